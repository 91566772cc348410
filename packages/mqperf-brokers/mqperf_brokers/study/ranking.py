"""Cells beside each other: which are of one workload, which of these is best, and which came again.

Only what counts is ranked: whose rate nobody doubts, and whose interval is known.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

from mqperf.plan.columns import parameters
from mqperf.plan.columns.parameters import FURTHER
from mqperf.plan.columns.runs import CONDITION, LINK
from mqperf.plan.driver import OPTIONS, SET
from mqperf.plan.load import GENERATORS
from mqperf.study.tables.places import GENERATOR
from mqperf_brokers.study.cells import BESIDE, THREADS, Cell

AROUND = (CONDITION.name, *(column.name for column in LINK), BESIDE)
"""What is around a system, and part of its workload whoever makes the load."""

SPOKEN = {*OPTIONS, SET, GENERATOR, "confirms", "settlement"}
"""Parameters that say how a system is spoken to.  By the last two generators ask for confirms, each
by its own; whether they had any is recorded."""

BEST, AMONG = "best", "not told apart from the best"
"""The ranks of cells; others have none."""

Value = tuple[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """A cell with its workload: parameters and values that tell it from others of its test case.

    ``apart`` are the further ones that tell it from other cells of its layout and workload.
    """

    cell: Cell
    workload: tuple[Value, ...]
    apart: tuple[Value, ...]
    rank: str


def ranked(cells: Sequence[Cell]) -> list[Ranked]:
    """All cells in their order, each with its rank among those of its workload and machine."""
    workloads = {cell: of for of_case in _by_case(cells) for cell, of in _workloads(of_case)}
    groups: dict[object, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(_place(cell, workloads), []).append(cell)
    ranks = {cell: rank for group in groups.values() for cell, rank in _ranks(group)}
    return [
        Ranked(cell, workloads[cell], _apart(cell, groups[_place(cell, workloads)]), ranks[cell])
        for cell in cells
    ]


def _by_case(cells: Iterable[Cell]) -> Iterable[list[Cell]]:
    cases: dict[str, list[Cell]] = {}
    for cell in cells:
        cases.setdefault(cell.test_case, []).append(cell)
    return cases.values()


def _workloads(of_case: Sequence[Cell]) -> Iterator[tuple[Cell, tuple[Value, ...]]]:
    """By cell what tells its workload: what differs, of all that every generator knows.

    Cells without a rate are no reason to tell others apart.
    """
    models = [
        GENERATORS[name].parameters.model_fields
        for name in {cell.generator for cell in of_case}
        if name in GENERATORS
    ]
    of_load = {*parameters()}.intersection(*models) - {*FURTHER, *SPOKEN}
    asked = {*of_load, *AROUND, THREADS}
    names = [name for name in (*parameters(), BESIDE, THREADS) if name in asked]
    facts = {
        cell: {
            **{name: cell.given.get(name) for name in names},
            "confirmed": cell.confirmed,
            "how": cell.sustained.how,
        }
        for cell in of_case
    }
    told = [values for cell, values in facts.items() if not isnan(cell.sustained.rate)]
    differing = [name for name in (*names, "confirmed", "how") if _several(told, name)]
    for cell, values in facts.items():
        yield cell, tuple((name, values[name]) for name in differing)


def _place(cell: Cell, workloads: Mapping[Cell, object]) -> object:
    """What cells have in common that are ranked together."""
    return cell.test_case, workloads[cell], cell.release, cell.machine


def _apart(cell: Cell, group: Sequence[Cell]) -> tuple[Value, ...]:
    """The parameters in which cells of this layout differ that are of one workload."""
    alike = [other.given for other in group if other.layout == cell.layout]
    names = [name for name in parameters() if _several(alike, name)]
    return tuple((name, cell.given.get(name)) for name in names)


def _several(values: Iterable[Mapping[str, object]], name: str) -> bool:
    return len({of.get(name) for of in values}) > 1


def _ranks(group: Sequence[Cell]) -> Iterator[tuple[Cell, str]]:
    """The best is that whose interval is above all others; what reaches it is not told apart."""
    counting = [cell for cell in group if cell.counts]
    most = max((cell.sustained.low for cell in counting), default=0.0)
    near = [cell for cell in counting if cell.sustained.high > most or cell.sustained.low == most]
    rank = AMONG if len(near) > 1 else BEST
    for cell in group:
        yield cell, rank if cell in near and len(counting) > 1 else ""


@dataclass(frozen=True, slots=True)
class Again:
    """A second measurement of a cell, and whether it fell within the interval of the first.

    ``within`` is None where it says nothing: ``why`` tells.
    """

    cell: Cell
    within: bool | None
    why: str = ""


def again(first: Cell, second: Cell) -> Again:
    """What a second measurement says of a cell."""
    if not first.counts or not second.counts:
        doubted = "the first" if not first.counts else "the second"
        return Again(second, None, f"{doubted} does not count")
    if first.day == second.day:
        return Again(second, None, "on the same day")
    before, after = first.sustained, second.sustained
    if after.low > 0 and after.high < inf:
        return Again(second, before.low <= after.rate <= before.high)
    if after.low > before.high or after.high < before.low:
        return Again(second, within=False)
    return Again(second, None, "the second is known from one side alone")


def share(seconds: Sequence[Again | None]) -> str:
    """In a sentence how many of all cells came again within their interval."""
    told = [second.within for second in seconds if second is not None and second.within is not None]
    percent = f" ({100 * sum(told) / len(told):.0f} %)" if told else ""
    return (
        f"{sum(told)} of {len(told)} cells that were measured again on another day came within"
        f" their interval{percent}; of {len(seconds) - len(told)} others nothing can be said."
    )
