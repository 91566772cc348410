"""Comparison of cells: their workloads, the best of each workload, and second measurements.

Only cells that count are ranked: those without doubts, and with a known interval.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any

from mqperf.plan.columns import parameters
from mqperf.plan.columns.parameters import OTHER_PARAMETERS
from mqperf.plan.columns.runs import CONDITION, LINK
from mqperf.plan.driver import OPTIONS, SET
from mqperf.plan.load import GENERATORS
from mqperf.study.stats.rules.speed import unequal
from mqperf.study.tables.places import GENERATOR
from mqperf_brokers.study.cells import BESIDE, THREADS, Cell

AROUND = (CONDITION.name, *(column.name for column in LINK), BESIDE)
"""Parameters of a system's surroundings, part of the workload with any load generator."""

SPOKEN = {*OPTIONS, SET, GENERATOR, "confirms", "settlement"}
"""Parameters of the communication with a system.  The last two are how different generators ask
for confirms; whether they got any is recorded."""

BEST, AMONG = "best", "not clearly below the best"
"""The ranks of cells; others have none."""

Value = tuple[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """A cell with its workload: parameters that distinguish it from others of its test case.

    ``apart`` has further ones that distinguish it from other cells of its layout and workload.
    """

    cell: Cell
    workload: tuple[Value, ...]
    apart: tuple[Value, ...]
    rank: str


def ranked(cells: Sequence[Cell]) -> list[Ranked]:
    """Return all cells in order, each with its rank among those of its workload and machine."""
    workloads = dict(pair for of_case in _by_case(cells) for pair in _workloads(of_case))
    groups: dict[object, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(_group_key(cell, workloads), []).append(cell)
    ranks = {cell: rank for group in groups.values() for cell, rank in _ranks(group)}
    group_of = {cell: group for group in groups.values() for cell in group}
    return [Ranked(c, workloads[c], _apart(c, group_of[c]), ranks[c]) for c in cells]


def _by_case(cells: Iterable[Cell]) -> Iterable[list[Cell]]:
    cases: dict[str, list[Cell]] = {}
    for cell in cells:
        cases.setdefault(cell.test_case, []).append(cell)
    return cases.values()


def _workloads(of_case: Sequence[Cell]) -> Iterator[tuple[Cell, tuple[Value, ...]]]:
    """Yield the workload of each cell: parameters that vary, and that all generators have.

    Cells without a rate are ignored in finding out what varies.
    """
    models = [
        GENERATORS[name].parameters.model_fields
        for name in {cell.generator for cell in of_case}
        if name in GENERATORS
    ]
    of_load = {*parameters()}.intersection(*models) - {*OTHER_PARAMETERS, *SPOKEN}
    relevant = {*of_load, *AROUND, THREADS}
    names = [name for name in (*parameters(), BESIDE, THREADS) if name in relevant]
    facts = {
        cell: {
            **{name: cell.given.get(name) for name in names},
            "confirmed": cell.confirmed,
            "how": cell.sustained.how,
        }
        for cell in of_case
    }
    with_rate = [values for cell, values in facts.items() if not isnan(cell.sustained.rate)]
    differing = [name for name in (*names, "confirmed", "how") if _several(with_rate, name)]
    for cell, values in facts.items():
        yield cell, tuple((name, values[name]) for name in differing)


def _group_key(cell: Cell, workloads: Mapping[Cell, object]) -> object:
    """Return the key of the group in which a cell is ranked."""
    return cell.test_case, workloads[cell], cell.release, cell.machine


def _apart(cell: Cell, group: Sequence[Cell]) -> tuple[Value, ...]:
    """Return the parameters in which cells of this layout and workload differ."""
    of_layout = [other.given for other in group if other.layout == cell.layout]
    names = [name for name in parameters() if _several(of_layout, name)]
    return tuple((name, cell.given.get(name)) for name in names)


def _several(values: Iterable[Mapping[str, object]], name: str) -> bool:
    return len({each.get(name) for each in values}) > 1


def _ranks(group: Sequence[Cell]) -> Iterator[tuple[Cell, str]]:
    """Rank the cell best whose interval is above all others; overlapping ones are ``AMONG``.

    A rate is at most proportional to the speed of a core: the upper end of a cell is raised to what
    it would be with the fastest cores of the group.
    """
    counting = [cell for cell in group if cell.counts]
    best = max((cell.sustained.low for cell in counting), default=0.0)
    fastest = max((cell.core_speed for cell in counting if cell.core_speed > 0), default=nan)
    near = [
        cell
        for cell in counting
        if cell.sustained.low == best
        or cell.sustained.high * (fastest / cell.core_speed if cell.core_speed > 0 else 1) > best
    ]
    rank = AMONG if len(near) > 1 else BEST
    for cell in group:
        yield cell, rank if cell in near and len(counting) > 1 else ""


@dataclass(frozen=True, slots=True)
class Again:
    """A second measurement of a cell, and whether it fell within the interval of the first.

    ``within`` is None if that cannot be decided, for the reason ``why``.
    """

    cell: Cell
    within: bool | None
    why: str = ""


def again(first: Cell, second: Cell) -> Again:
    """Compare a second measurement with the first."""
    if not first.counts or not second.counts:
        doubted = "the first" if not first.counts else "the second"
        return Again(second, None, f"{doubted} does not count")
    if first.day == second.day:
        return Again(second, None, "on the same day")
    if unequal(first.core_speed, second.core_speed):
        times = second.core_speed / first.core_speed
        return Again(second, None, f"cores were {times:.2f} times as fast")
    before, after = first.sustained, second.sustained
    if after.low > 0 and after.high < inf:
        return Again(second, before.low <= after.rate <= before.high)
    if after.low > before.high or after.high < before.low:
        return Again(second, within=False)
    return Again(second, None, "the second is known from one side alone")


def share(seconds: Sequence[Again | None]) -> str:
    """Return a sentence: how many cells were again within their interval."""
    known = [it.within for it in seconds if it is not None and it.within is not None]
    percent = f" ({100 * sum(known) / len(known):.0f} %)" if known else ""
    return (
        f"{sum(known)} of {len(known)} cells that were measured again on another day came within"
        f" their interval{percent}; of {len(seconds) - len(known)} others nothing can be said."
    )
