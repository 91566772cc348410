"""The answer in a few lines of text: what a sweep found, and what one run found."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from mqperf import stats, tables
from mqperf.columns import COLUMNS
from mqperf.errors import MqperfError
from mqperf.record import Run
from mqperf.report import limits
from mqperf.report.tops import tops
from mqperf.report.words import amount, cell, layouts
from mqperf.tables import varied
from mqperf.test_cases import TEST_CASES

HEADINGS = ("system", "topology and queues", "test case")
FIGURES = {"throughput_msg_s": "msg/sec", "threads": "threads", "latency_p99_s": "p99, ms"}
"""Columns of numbers, and their headings; parameters that vary stand after the threads."""


def of_runs(runs: Path) -> Iterator[str]:
    """The best point of every layout and test case as a table, and the commands that come next.

    Columns are throughput, threads, each parameter that tells points apart, 99th percentile of the
    latency, bottleneck, and kinds of doubt.
    """
    found = tables.of_plan(stats.complete(tables.read(runs)))
    best = tops(found, layouts(found["runs"]))
    if len(best):
        bottlenecks = limits.of_points(found)
        numbers = _numbers(varied(found["points"]))
        rows = [_row(top, numbers, bottlenecks) for _, top in best.iterrows()]
        headings = (*HEADINGS, *numbers.values(), "bottleneck", "doubts")
        yield from _aligned([headings, *rows], len(numbers))
    yield ""
    yield f"{amount(len(found['doubts']), 'doubt')}: mqperf audit {runs}"
    yield f"pages to publish: mqperf report {runs} --out reports/{runs.name}"


def of_run(run: Run) -> str:
    """Throughput and 99th percentile of one run, as the tables have them."""
    found = tables.of_runs([run])
    figures = {**_first(found["messages"]), **_first(found["latency"])}
    rate, slow = (figures.get(column) for column in ("throughput_msg_s", "latency_p99_s"))
    return (
        f"{cell('throughput_msg_s', rate)} {COLUMNS['throughput_msg_s'].shown},"
        f" p99 {cell('latency_p99_s', slow)} {COLUMNS['latency_p99_s'].shown}"
    )


def of_run_if_sound(run: Run) -> str:
    """The same, or why there are no figures: what was recorded stays recorded."""
    try:
        return of_run(run)
    except MqperfError as error:
        return f"its figures cannot be read: {error}"


def _numbers(parameters: Sequence[str]) -> dict[str, str]:
    """The columns of numbers, and their headings."""
    rate, threads, slow = FIGURES
    names = dict.fromkeys((rate, threads, *parameters, slow))
    return {name: FIGURES.get(name) or COLUMNS[name].heading() for name in names}


def _row(top: pd.Series, numbers: Iterable[str], bottlenecks: pd.Series) -> tuple[str, ...]:
    return (
        str(top["system"]),
        str(top["label"]),
        TEST_CASES[top["test_case"]].short,
        *(str(cell(column, top[column])) for column in numbers),  # of finished RST the bare text
        str(bottlenecks.get(top["point"], limits.UNKNOWN)),
        ", ".join(top["doubts"]) or "none",
    )


def _aligned(rows: list[tuple[str, ...]], count: int) -> Iterator[str]:
    """Rows as lines, columns as wide as their longest cell, the ``count`` figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = range(len(HEADINGS), len(HEADINGS) + count)
    for row in rows:
        cells = [
            text.rjust(width) if place in numbers else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _first(frame: pd.DataFrame) -> dict[str, object]:
    return {} if frame.empty else {str(key): value for key, value in frame.iloc[0].items()}
