"""A plan that decides: points that differ in a name are repeated until it is known what it changes.

Which runs come next follows from those that are there, so that it goes on wherever it was left: a
folder and a plan are all of its state.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mqperf.base.one_line import amount, percent, percents
from mqperf.plan.case import Case
from mqperf.plan.values import Frozen

FIRST = 2
"""Repeats of every point before anything can be decided, unless the plan says more."""

MOST = 20
"""Repeats of a point beyond which nothing is decided."""

OF_LAYOUT = ("system", "queues", "topology")
"""The names of a layout, in the order in which they are compared."""

UNITS = {"s": 1, "min": 60, "h": 3600}
DURATION = re.compile(rf"(\d{{1,6}}(?:\.\d{{1,3}})?) ?({'|'.join(UNITS)})")

Outcome = Literal["better", "worse", "alike", "open"]


def _duration(text: str) -> str:
    match = DURATION.fullmatch(text)
    if match is None or not float(match[1]):
        raise ValueError("expected a duration such as 20 min, 90 s or 1.5 h")
    return text


class DecidePlan(Frozen):
    """Which relative difference matters, and how long it may take to find it out."""

    difference: Annotated[float, Field(ge=0.005, le=1, allow_inf_nan=False)] = 0.05
    within: Annotated[str, Field(max_length=20), AfterValidator(_duration)] = "20 min"

    @property
    def within_s(self) -> float:
        """The time for all runs, in seconds."""
        number, unit = DURATION.fullmatch(self.within).groups()  # type: ignore[union-attr]
        return float(number) * UNITS[unit]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two points that differ in the name ``axis`` alone; cases are those of their first repeats."""

    axis: str
    reference: Case
    other: Case

    @property
    def points(self) -> tuple[str, str]:
        """The ids of both."""
        return self.reference.point, self.other.point

    @property
    def words(self) -> str:
        """What is compared: ``quorum against classic, rpc-call, 10 threads``."""
        values = (str(_names(case)[self.axis]) for case in (self.other, self.reference))
        threads = amount(self.other.threads, "thread")
        return f"{' against '.join(values)}, {self.other.test_case}, {threads}"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is known of a comparison after so many repeats of both points.

    ``ratio`` is that of the other point by the reference, with its interval; None before there are
    enough repeats.  ``needed`` says how many repeats would decide an open one, as it looks now.
    """

    outcome: Outcome
    repeats: int
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    needed: int | None = None

    def words(self, difference: float) -> str:
        """What was decided, or how far it is: ``+23 % (+15 to +31 %)``."""
        if self.ratio is None or self.low is None or self.high is None:
            return "open"
        ends = percents(self.low, self.high)
        if self.outcome == "alike":
            return f"differs by less than {difference * 100:g} % ({ends})"
        change = f"{percent(self.ratio)} ({ends})"
        return change if self.outcome != "open" else f"open, {change}"


def comparisons(cases: Sequence[Case]) -> list[Comparison]:
    """Every point against that with the first value of a name, all else alike.

    ``cases`` are the points of a plan, one case of each.
    """
    return [comparison for axis in _axes(cases) for comparison in _along(axis, cases)]


def _along(axis: str, cases: Sequence[Case]) -> Iterator[Comparison]:
    first = next(value for case in cases if (value := _names(case).get(axis)) is not None)
    references = {_rest(case, axis): case for case in cases if _names(case).get(axis) == first}
    for case in cases:
        reference = references.get(_rest(case, axis))
        if reference is not None and _names(case).get(axis) not in {first, None}:
            yield Comparison(axis, reference, case)


def _axes(cases: Sequence[Case]) -> list[str]:
    """The names that tell points apart: of layouts, and words among settings and parameters."""
    names = [name for name in OF_LAYOUT if len({getattr(case, name) for case in cases}) > 1]
    values: dict[tuple[str, str], set[str]] = {}
    for case in cases:
        for name, value in _names(case).items():
            if name not in OF_LAYOUT:
                values.setdefault((case.system, name), set()).add(value)
    return [*names, *dict.fromkeys(name for (_, name), words in values.items() if len(words) > 1)]


def _names(case: Case) -> dict[str, str]:
    """What of a case is a name."""
    values = {**case.settings, **case.parameters}
    words = {name: value for name, value in values.items() if isinstance(value, str)}
    return {
        **words,
        "system": case.system,
        "queues": case.queues,
        "topology": case.topology,
    }


def _rest(case: Case, axis: str) -> str:
    """All that both points of a comparison have alike; settings belong to their system."""
    alike: dict[str, object] = case.model_dump(mode="json", exclude={"repeat", "control_run"})
    if axis == "system":
        del alike["settings"]
    alike.pop(axis, None)
    for part in ("settings", "parameters"):
        values = alike.get(part)
        if isinstance(values, Mapping):
            alike[part] = {name: value for name, value in values.items() if name != axis}
    return json.dumps(alike, sort_keys=True)
