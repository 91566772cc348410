"""Plans with ``decide``: points that differ in one name are repeated until their ratio is decided.

Points of two plans can be compared with each other, too.  The next runs follow from the existing
ones, so that a decision can be resumed: the run folder and the plan are its whole state.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from mqperf.base.durations import seconds
from mqperf.base.one_line import amount, percent, percents
from mqperf.plan.case import Case
from mqperf.plan.driver import OPTIONS, SET
from mqperf.plan.settings import worded
from mqperf.plan.values import Frozen

FIRST = 2
"""Repeats of every point before anything is decided, unless the plan has more."""

MOST = 20
"""Most repeats of a point; a comparison still open then stays open."""

OF_LAYOUT = ("system", "queues", "topology")
"""The names that make up a layout, in the order in which they are compared."""

ALWAYS = (*OF_LAYOUT, "test_case", "threads")
"""Values that points of two plans must share to be compared."""

SIDES = 2
"""Number of plans in a comparison between plans."""

PLAN = "plan"
"""The axis of comparisons between two plans."""

Name = Annotated[str, Field(min_length=1, max_length=100)]
Outcome = Literal["better", "worse", "alike", "open"]
Point = tuple[int, str]
"""The index of a plan among those compared, and the id of one of its points."""


def _duration(text: str) -> str:
    if not seconds(text):
        raise ValueError("expected a duration above 0")
    return text


def _pair(names: tuple[str, ...]) -> tuple[str, ...]:
    if names and (len(names) != SIDES or len({*names}) < SIDES):
        raise ValueError("expected the names of two plans, the first of them the reference")
    return names


class DecidePlan(Frozen):
    """The relative difference that matters, and the time limit for all runs."""

    difference: float = Field(0.05, ge=0.005, le=1, allow_inf_nan=False)
    within: Annotated[str, AfterValidator(_duration)] = Field("20 min", max_length=20)
    plans: Annotated[tuple[Name, ...], AfterValidator(_pair)] = ()

    @property
    def within_s(self) -> float:
        """The time limit for all runs, in seconds."""
        return seconds(self.within)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two points that differ only in ``axis``; the cases are those of their first repeats.

    ``names`` are the values of the axis at the reference and at the other point, ``varying`` the
    other parameters that vary among all points, ``sides`` the indexes of the two points' plans.
    """

    axis: str
    names: tuple[str, str]
    reference: Case
    other: Case
    varying: Sequence[str] = ()
    sides: tuple[int, int] = (0, 0)

    @property
    def points(self) -> tuple[Point, Point]:
        """Plan index and id of both points."""
        first, second = self.sides
        return (first, self.reference.point), (second, self.other.point)

    @property
    def words(self) -> str:
        """Description of the comparison: ``quorum against classic, rpc-call, 10 threads``."""
        reference, other = self.names
        case, values = self.other, _values(self.other)
        layout = [str(getattr(case, name)) for name in OF_LAYOUT if name in self.varying]
        shown = {"generator", *case.settings, *case.parameters}
        more = [f"{name} {values[name]}" for name in self.varying if name in shown]
        point = [*layout, case.test_case, amount(case.threads, "thread"), *more]
        return f"{other} against {reference}, {', '.join(point)}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The state of a comparison after ``repeats`` of both points.

    ``ratio`` is the other point's throughput divided by the reference's, with its interval; None
    before there are enough repeats.  ``needed`` estimates the repeats that decide an open one.
    """

    outcome: Outcome
    repeats: int
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    needed: int | None = None

    def words(self, difference: float) -> str:
        """Describe the decision, or its state so far: ``+23 % (+15 to +31 %)``."""
        if self.ratio is None or self.low is None or self.high is None:
            return "open"
        ends = percents(self.low, self.high)
        if self.outcome == "alike":
            return f"differs by less than {difference * 100:g} % ({ends})"
        change = f"{percent(self.ratio)} ({ends})"
        return change if self.outcome != "open" else f"open, {change}"


def comparisons(cases: Sequence[Case], alone: Collection[str] = ()) -> list[Comparison]:
    """Compare every point with the one that has the first value of an axis and is equal otherwise.

    ``cases`` are the points of a plan, one case of each.  Parameters in ``alone`` belong to single
    generators, and may differ between generators that are compared.
    """
    return [comparison for axis in _axes(cases) for comparison in _along(axis, cases, alone)]


def across(
    names: tuple[str, str], first: Sequence[Case], second: Sequence[Case]
) -> list[Comparison]:
    """Compare every point of the second plan with the matching point of the first, if any.

    Matching points share layout, test case, number of threads, and all that varies in either plan.
    """
    varying = [*dict.fromkeys((*_varying(first), *_varying(second)))]
    matched = [*dict.fromkeys((*ALWAYS, *varying))]
    references = {_values_of(case, matched): case for case in first}
    return [
        Comparison(PLAN, names, references[values], case, varying, (0, 1))
        for case in second
        if (values := _values_of(case, matched)) in references
    ]


def _along(axis: str, cases: Sequence[Case], alone: Collection[str]) -> Iterator[Comparison]:
    """Yield the comparisons of each value of the axis with the first one."""
    first = next(value for case in cases if (value := _names(case).get(axis)) is not None)
    at_first = [case for case in cases if _names(case).get(axis) == first]
    references = {_rest(case, axis, alone): case for case in at_first}
    varying = [name for name in _varying(cases) if name != axis]
    for case in cases:
        reference, value = references.get(_rest(case, axis, alone)), _names(case).get(axis)
        if reference is not None and value is not None and value != first:
            yield Comparison(axis, (first, value), reference, case, varying)


def _axes(cases: Sequence[Case]) -> list[str]:
    """Return the names with several values: of the layout, and non-numeric settings, parameters."""
    names = [name for name in OF_LAYOUT if len({getattr(case, name) for case in cases}) > 1]
    values: dict[tuple[str, str], set[str]] = {}
    for case in cases:
        for name, value in _names(case).items():
            if name not in OF_LAYOUT:
                values.setdefault((case.system, name), set()).add(value)
    return [*names, *dict.fromkeys(name for (_, name), every in values.items() if len(every) > 1)]


def _names(case: Case) -> dict[str, str]:
    """Return all values of a case that are names, not numbers: each may be an axis."""
    values = {**case.settings, **case.parameters}
    options = {
        name: worded(value)
        for name, value in values.items()
        if isinstance(value, str | bool | Mapping)
    }
    return {
        **options,
        "generator": case.generator,
        "system": case.system,
        "queues": case.queues,
        "topology": case.topology,
    }


def _rest(case: Case, axis: str, alone: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return all values but those that may differ along the axis; settings go with the system."""
    differing = {axis, *(case.settings if axis == "system" else ())}
    differing |= {*OPTIONS} if axis == SET else {*alone} if axis == "generator" else set()
    return frozenset(item for item in _values(case).items() if item[0] not in differing)


def _varying(cases: Sequence[Case]) -> list[str]:
    """Return the names of values that vary among the points of a plan."""
    values = [_values(case) for case in cases]
    names = dict.fromkeys(name for of_case in values for name in of_case)
    return [name for name in names if len({of_case.get(name) for of_case in values}) > 1]


def _values_of(case: Case, names: Sequence[str]) -> tuple[str | None, ...]:
    values = _values(case)
    return tuple(values.get(name) for name in names)


def _values(case: Case) -> dict[str, str]:
    """Return all values of a point as JSON, settings and parameters under their own names."""
    data: dict[str, Any] = case.model_dump(mode="json", exclude={"repeat", "control_run"})
    flat = {**data.pop("settings"), **data.pop("parameters"), **data, "threads": case.threads}
    return {name: json.dumps(value, sort_keys=True) for name, value in flat.items()}
