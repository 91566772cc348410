"""Forms of plan files beside YAML, each known by the suffix of its files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.problems import Where
from mqperf.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Form:
    """A form of plan files; its ``name`` is their suffix.

    ``as_plan`` gives the YAML of the plan that a text in it stands for, and the lines of what the
    text says, by their places in the plan; it raises ``PlanError`` with the line of the first
    problem.
    """

    name: str
    as_plan: Callable[[str, Path], tuple[str, dict[Where, int]]]


FORMS: Registry[Form] = Registry("plan_forms")
