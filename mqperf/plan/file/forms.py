"""Other formats of plan files than YAML, selected by the file's suffix."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.problems import Where
from mqperf.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Form:
    """A format of plan files; its ``name`` is their suffix.

    ``as_plan`` translates a file's text, with its path for errors, to the YAML of a plan, and maps
    paths in the plan to lines of the original; it raises ``PlanError`` with the line of the first
    problem.
    """

    name: str
    as_plan: Callable[[str, Path], tuple[str, dict[Where, int]]]


FORMS: Registry[Form] = Registry("plan_forms")
