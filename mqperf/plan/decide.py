"""A plan that decides: points that differ in a name are repeated until it is known what it changes.

Or two plans, whose points are compared with each other's.

Which runs come next follows from those that are there, so that it goes on wherever it was left: a
folder and a plan are all of its state.
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
"""Repeats of every point before anything can be decided, unless the plan says more."""

MOST = 20
"""Repeats of a point beyond which nothing is decided."""

OF_LAYOUT = ("system", "queues", "topology")
"""The names of a layout, in the order in which they are compared."""

ALWAYS = (*OF_LAYOUT, "test_case", "threads")
"""What points of two plans must have in common to be compared."""

SIDES = 2
"""Plans whose points are compared with each other's."""

PLAN = "plan"
"""The name that tells points of two plans apart."""

Name = Annotated[str, Field(min_length=1, max_length=100)]
Outcome = Literal["better", "worse", "alike", "open"]
Point = tuple[int, str]
"""The place of a plan among those that are compared, and the id of a point of it."""


def _duration(text: str) -> str:
    if not seconds(text):
        raise ValueError("expected a duration above 0")
    return text


def _pair(names: tuple[str, ...]) -> tuple[str, ...]:
    if names and (len(names) != SIDES or len({*names}) < SIDES):
        raise ValueError("expected the names of two plans, the first of them the reference")
    return names


class DecidePlan(Frozen):
    """Which relative difference matters, and how long it may take to find it out."""

    difference: float = Field(0.05, ge=0.005, le=1, allow_inf_nan=False)
    within: Annotated[str, AfterValidator(_duration)] = Field("20 min", max_length=20)
    plans: Annotated[tuple[Name, ...], AfterValidator(_pair)] = ()

    @property
    def within_s(self) -> float:
        """The time for all runs, in seconds."""
        return seconds(self.within)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two points that differ in the name ``axis`` alone; cases are those of their first repeats.

    ``names`` are its values at the reference and at the other, ``varying`` what else varies among
    all points.  ``sides`` are the places of their plans among those that are compared.
    """

    axis: str
    names: tuple[str, str]
    reference: Case
    other: Case
    varying: Sequence[str] = ()
    sides: tuple[int, int] = (0, 0)

    @property
    def points(self) -> tuple[Point, Point]:
        """The places of their plans, and their ids."""
        first, second = self.sides
        return (first, self.reference.point), (second, self.other.point)

    @property
    def words(self) -> str:
        """What is compared: ``quorum against classic, rpc-call, 10 threads``."""
        reference, other = self.names
        case, values = self.other, _values(self.other)
        layout = [str(getattr(case, name)) for name in OF_LAYOUT if name in self.varying]
        named = {"generator", *case.settings, *case.parameters}
        more = [f"{name} {values[name]}" for name in self.varying if name in named]
        place = [*layout, case.test_case, amount(case.threads, "thread"), *more]
        return f"{other} against {reference}, {', '.join(place)}"


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


def comparisons(cases: Sequence[Case], alone: Collection[str] = ()) -> list[Comparison]:
    """Every point against that with the first value of a name, all else alike.

    ``cases`` are the points of a plan, one case of each.  Generators differ by the parameters that
    are theirs ``alone``, too.
    """
    return [comparison for axis in _axes(cases) for comparison in _along(axis, cases, alone)]


def across(
    names: tuple[str, str], first: Sequence[Case], second: Sequence[Case]
) -> list[Comparison]:
    """Every point of the second of two plans against that of the first which it agrees with.

    They agree in layout, test case and number of threads, and in all that varies in either plan.
    """
    varying = [*dict.fromkeys((*_varying(first), *_varying(second)))]
    agreeing = [*dict.fromkeys((*ALWAYS, *varying))]
    references = {_place(case, agreeing): case for case in first}
    return [
        Comparison(PLAN, names, references[place], case, varying, (0, 1))
        for case in second
        if (place := _place(case, agreeing)) in references
    ]


def _along(axis: str, cases: Sequence[Case], alone: Collection[str]) -> Iterator[Comparison]:
    first = next(value for case in cases if (value := _names(case).get(axis)) is not None)
    at_first = [case for case in cases if _names(case).get(axis) == first]
    references = {_rest(case, axis, alone): case for case in at_first}
    varying = [name for name in _varying(cases) if name != axis]
    for case in cases:
        reference, value = references.get(_rest(case, axis, alone)), _names(case).get(axis)
        if reference is not None and value is not None and value != first:
            yield Comparison(axis, (first, value), reference, case, varying)


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
    words = {
        name: worded(value)
        for name, value in values.items()
        if isinstance(value, str | bool | Mapping)
    }
    return {
        **words,
        "generator": case.generator,
        "system": case.system,
        "queues": case.queues,
        "topology": case.topology,
    }


def _rest(case: Case, axis: str, alone: Collection[str]) -> frozenset[tuple[str, str]]:
    """All that both points of a comparison have alike; settings belong to their system."""
    apart = {axis, *(case.settings if axis == "system" else ())}
    apart |= {*OPTIONS} if axis == SET else {*alone} if axis == "generator" else set()
    return frozenset(item for item in _values(case).items() if item[0] not in apart)


def _varying(cases: Sequence[Case]) -> list[str]:
    """What of the points of a plan varies."""
    values = [_values(case) for case in cases]
    names = dict.fromkeys(name for of_case in values for name in of_case)
    return [name for name in names if len({of_case.get(name) for of_case in values}) > 1]


def _place(case: Case, names: Sequence[str]) -> tuple[str | None, ...]:
    values = _values(case)
    return tuple(values.get(name) for name in names)


def _values(case: Case) -> dict[str, str]:
    """All that a plan says of a point, settings and parameters by their own names."""
    parts: dict[str, Any] = case.model_dump(mode="json", exclude={"repeat", "control_run"})
    flat = {**parts.pop("settings"), **parts.pop("parameters"), **parts, "threads": case.threads}
    return {name: json.dumps(value, sort_keys=True) for name, value in flat.items()}
