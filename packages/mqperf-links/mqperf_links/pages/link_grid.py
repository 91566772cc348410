"""The cost of each delay of a link at each loss of packets: sentences, a map and a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from mqperf.pages.questions.question import Answer, Answering, enough_repeats
from mqperf.pages.questions.words import Row, bold, case_of, cited, grouped, layout_of, rate_unit
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.rst import MISSING, Text
from mqperf.pages.sections.factors import LATENCY, factor
from mqperf.pages.sections.section import Content
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, at, completed, where
from mqperf.study.tables.axes import SWEEP
from mqperf_links.pages.grid_map import grid_sheet
from mqperf_links.study.grid import DELAY, GRID_AXES, LOSS, alike, factors, is_grid

CAPTION = "Factors by round trip and loss"
ROUND_TRIP = "round trip, ms"
NOTHING, FAILED, UNKNOWN = "nothing", "no run", "not known"
"""Cells of combinations where no message was completed, or whose runs failed.

The last one is for a figure made negative by clocks, though messages came.
"""

FIGURES = {LATENCY: "latency, times", FIGURE: "throughput, times"}


@dataclass(frozen=True, slots=True)
class Grid:
    """Points that differ in delay and loss only: their factors and runs, and their baseline.

    ``words`` tell it from other grids; ``first`` is its point with the least delay and loss, and
    ``doubted`` are the kinds of doubts about that point.
    """

    words: str
    factors: pd.DataFrame
    runs: pd.DataFrame
    first: Row
    doubted: str | None

    def of(self, figure: str) -> dict[tuple[float, float], Row]:
        """Return the factors of a figure: rows by delay and loss."""
        rows = self.factors[self.factors["figure"].eq(figure)].to_dict("records")
        return {(row[DELAY], row[LOSS]): row for row in rows}

    def values(self, axis: str) -> list[float]:
        """Return the values of an axis that were tried, the least first."""
        return sorted(self.runs[axis].dropna().unique())

    def cell(self, figure: str, delay: float, loss: float) -> str:
        """Return a factor with its interval, or why there is none."""
        if (delay, loss) == (self.first[DELAY], self.first[LOSS]):
            if figure == LATENCY:
                return f"1: {grouped(self.first[figure] * 1e3)} ms"
            return f"1: {grouped(self.first[figure])} {rate_unit(self.first)}"
        if (row := self.of(figure).get((delay, loss))) is not None:
            return factor(row)
        if any((delay, loss) in self.of(other) for other in FIGURES):
            return UNKNOWN
        tried = self.runs[self.runs[DELAY].eq(delay) & self.runs[LOSS].eq(loss)]
        return MISSING if tried.empty else FAILED if completed(tried).empty else NOTHING


def asked(tables: Tables) -> bool:
    """Whether delay and loss vary, though not by conditions, and nothing is disturbed."""
    return is_grid(tables) and tables["factors"].empty and tables["outages"].empty


def answer(tables: Tables) -> Answer | None:
    """Answer, for each grid, with the latency at its baseline, and factors at its other corners."""
    if not is_grid(tables) or (rows := factors(tables)).empty:
        return None
    grids = [*_grids(rows, tables)]
    return Answer(
        question="How do round trip and packet loss affect clients?",
        sentences=[text for grid in grids for text in _sentences(grid)],
        drawing=_drawing(grids),
        table=_table(grids),
        settle=[*enough_repeats(rows[rows["figure"].eq(LATENCY)])],
    )


def _grids(rows: pd.DataFrame, tables: Tables) -> Iterator[Grid]:
    """Yield the grids, with words that tell them apart if there are several."""
    names, kinds = alike(tables), kinds_by_point(tables)
    several = [name for name in names if len(tables["points"][name].unique()) > 1]
    for _, group in rows.groupby(names, sort=False, dropna=False):
        row = group.iloc[0].to_dict()
        same = {name: row[name] for name in names if pd.notna(row[name])}
        points = where(tables["points"], **same)
        least = points[(points[GRID_AXES] == points[GRID_AXES].min()).all(axis=1)]
        others = [name for name in several if name not in SWEEP]
        case = case_of(row) if "test_case" in several else ""
        words = ", ".join(filter(None, [case, layout_of(row, tables), at(row, others)]))
        runs = where(tables["runs"], **same)
        first = least.iloc[0].to_dict()
        yield Grid(words, group, runs, first, kinds.get(str(first["point"])))


def _sentences(grid: Grid) -> Iterator[Text]:
    """Yield the figures of the baseline; then factors of most delay, of most loss, and of both."""
    noun = TEST_CASES[grid.first["test_case"]].noun
    yield bold(_link(grid.first[DELAY], grid.first[LOSS]), grid.words) + Text(
        ": a {} takes {} ms, {} {}{}."
    ).format(
        noun,
        grouped(grid.first[LATENCY] * 1e3),
        grouped(grid.first[FIGURE]),
        rate_unit(grid.first),
        cited(grid.doubted),
    )
    delays, losses = grid.values(DELAY), grid.values(LOSS)
    corners = ((delays[-1], losses[0]), (delays[0], losses[-1]), (delays[-1], losses[-1]))
    rows = grid.of(LATENCY)
    for delay, loss in corners:
        doubted = rows.get((delay, loss), {}).get("doubted")
        cell = grid.cell(LATENCY, delay, loss)
        unknown = {
            NOTHING: f"no {noun} finished",
            FAILED: "no run finished",
            MISSING: "not measured",
            UNKNOWN: UNKNOWN,
        }
        text = unknown.get(cell, f"{cell} times")
        yield bold(_link(delay, loss), grid.words) + Text(": {}{}.").format(text, cited(doubted))


def _link(delay: float, loss: float) -> str:
    """Return text such as ``round trip 200 ms, loss 5 %``, or ``no delay, no loss``."""
    round_trip = f"round trip {2e3 * delay:g} ms" if delay else "no delay"
    return f"{round_trip}, {f'loss {100 * loss:g} %' if loss else 'no loss'}"


def _drawing(grids: Sequence[Grid]) -> Drawing | None:
    maps = {", ".join(filter(None, [FIGURES[LATENCY], grid.words])): _map(grid) for grid in grids}
    ratios = [row["ratio"] for grid in grids for row in grid.of(LATENCY).values()]
    if not ratios:
        return None
    alt = f"Factor of latency at every round trip and loss of packets, up to {max(ratios):.3g}."
    return Drawing(CAPTION, alt, partial(grid_sheet, maps, ROUND_TRIP, "loss each way, %"))


def _map(grid: Grid) -> pd.DataFrame:
    """Return factors of latency, 1 at the baseline: a row per round trip, a column per loss."""
    ratios = {link: row["ratio"] for link, row in grid.of(LATENCY).items()}
    ratios[grid.first[DELAY], grid.first[LOSS]] = 1.0
    delays, losses = grid.values(DELAY), grid.values(LOSS)
    cells = [[ratios.get((delay, loss), np.nan) for loss in losses] for delay in delays]
    columns = [f"{100 * loss:g}" for loss in losses]
    return pd.DataFrame(cells, [f"{2e3 * delay:g}" for delay in delays], columns)


def _table(grids: Sequence[Grid]) -> Content:
    """Return a table with a row for each figure and round trip, and a column for each loss."""
    losses = sorted({loss for grid in grids for loss in grid.values(LOSS)})
    columns = {f"loss {loss:g}": f"loss {100 * loss:g} %" for loss in losses}
    lines: list[Mapping[str, str]] = [
        {"of": grid.words, "figure": words, "far": f"{2e3 * delay:g}"}
        | {f"loss {loss:g}": grid.cell(figure, delay, loss) for loss in losses}
        for grid in grids
        for figure, words in FIGURES.items()
        for delay in grid.values(DELAY)
    ]
    grid_column = {"of": "of"} if any(grid.words for grid in grids) else {}
    return Content(
        heading=CAPTION,
        words=[],
        caption=CAPTION,
        rows=pd.DataFrame(lines),
        columns={**grid_column, "figure": "figure", "far": ROUND_TRIP, **columns},
        style="numbers named",
    )


ANSWERING = Answering("link-grid", asked, answer)
