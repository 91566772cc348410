"""The answer in a few lines of text: what a sweep found, and what one run found."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from math import nan
from pathlib import Path
from textwrap import wrap

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report import limits
from mqperf.pages.report.rst import MISSING
from mqperf.pages.report.tops import tops, why_not
from mqperf.pages.report.verdicts import UNTOLD
from mqperf.pages.report.words import cell, layouts
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.plan.test_cases import TEST_CASES, in_unit, unit_of
from mqperf.record import Run
from mqperf.study import stats, tables
from mqperf.study.stats.checks import doubts
from mqperf.study.stats.survivors import survivors
from mqperf.study.tables import Tables, varied

HEADINGS = ("system", "topology and queues", "test case")
SUSTAINED, TOP = "sustained", "top_throughput_msg_s"
BEFORE = {SUSTAINED: "sustained, msg/sec", TOP: "raw maximum, msg/sec", "threads": "threads"}
AFTER = {"latency_p50_s": "p50, ms", "latency_p99_s": "p99, ms"}
"""Columns of numbers and their headings; parameters that vary stand between these."""

NO_BREAK, NARROWEST = "\N{NO-BREAK SPACE}", 20

UNSUSTAINED = "; the other columns of such a line describe the raw maximum."
UNKNOWN = f"?: at most; {UNTOLD}."


def of_runs(runs: Path, width: int | None = None) -> Iterator[str]:
    """What every layout and test case sustains as a table, and the commands that come next.

    A table that is wider than ``width`` is a paragraph for each of its rows instead.

    Columns are sustained throughput and raw maximum; and of the sustained point its threads, each
    parameter that tells points apart, median and 99th percentile of the latency, bottleneck, and
    kinds of doubt.
    """
    found = tables.of_plan(stats.complete(tables.read(runs)))
    yield from of_tables(found, width)
    yield ""
    folder = shlex.quote(str(runs))
    yield f"{amount(len(found['doubts']), 'doubt')}: mqperf audit {folder}"
    out = shlex.quote(f"reports/{runs.name}")
    yield f"pages to publish: mqperf report {folder} --out {out}"


def of_tables(found: Tables, width: int | None = None) -> Iterator[str]:
    """The table alone, of complete tables, and what its marks mean; nothing without figures."""
    best = tops(found, layouts(found["runs"]))
    if best.empty:
        return
    bottlenecks = limits.of_points(found)
    numbers = _numbers(varied(found["points"]))
    unit = unit_of(*best["test_case"])
    rows = [_row(top, numbers, bottlenecks, unit) for _, top in best.iterrows()]
    heads = (in_unit(head, unit) for head in numbers.values())
    units = best["test_case"].map(unit_of)
    headings = (*HEADINGS, *heads, "bottleneck", "doubts")
    lines = list(_aligned([headings, *rows], len(numbers)))
    if width is None or max(map(len, lines)) <= width:
        yield from lines
    else:
        names, room = [*numbers.values(), *headings[-2:]], max(width, NARROWEST)
        for row, unit in zip(rows, units, strict=True):
            yield from _folded(row, unit, names, room)
    if len(unsound := best[~best["sound"].astype(bool)]):
        yield f"{MISSING}: {why_not(unsound)}{UNSUSTAINED}"
    if (best["sound"] & ~best["sustained"]).any():
        yield UNKNOWN
    lacking = survivors(found)
    for top in best[best["point"].isin(lacking)].to_dict("records"):
        case = TEST_CASES[top["test_case"]].short
        yield f"{top['system']}, {top['label']}, {case}: {lacking[top['point']]}."
    yield from of_searches(found)


def of_searches(found: Tables) -> Iterator[str]:
    """A line for each search, with what tells it from the others."""
    rows = found["searches"]
    names = ["system", "topology", "queues", "test_case", "threads", "condition"]
    names += [name for name in parameters() if name in rows.columns and name not in names]
    apart = [name for name in names if len(rows[name].unique()) > 1]
    for row in rows.to_dict("records"):
        where = ", ".join(str(row[name]) for name in apart if pd.notna(row[name]))
        doubts = f" Doubts: {row['doubted']}." if pd.notna(row["doubted"]) else ""
        yield f"{where}: {row['text']}{doubts}" if where else f"{row['text']}{doubts}"


def of_run(run: Run) -> str:
    """Throughput and 99th percentile of one run, as the tables have them, and its own doubts.

    Doubts that take other runs to be raised are not among them.
    """
    found = tables.of_runs([run])
    figures = {**_first(found["messages"]), **_first(found["latency"])}
    rate, slow = (figures.get(column, nan) for column in ("throughput_msg_s", "latency_p99_s"))
    unit = unit_of(figures.get("test_case"))
    kinds = list(doubts(found)["kind"].unique())
    p99 = cell("latency_p99_s", slow)
    return (
        f"{cell('throughput_msg_s', rate)} {in_unit(COLUMNS['throughput_msg_s'].shown, unit)},"
        f" p99 {p99}{'' if p99 == MISSING else ' ms'},"
        f" {'doubts: ' + ', '.join(kinds) if kinds else 'no doubts'}"
        f"{''.join(f'; {told}' for told in survivors(found).values())}{_early(found)}"
    )


def _early(found: Tables) -> str:
    """Why a run ended early, if it did, and how much of it there is."""
    runs = found["runs"].dropna(subset=["condition_failed"])
    return "".join(
        f"; condition failed, window of {window:g} s: {why}"
        for why, window in zip(runs["condition_failed"], runs["window_s"], strict=True)
    )


def of_run_if_sound(run: Run) -> str:
    """The same, or why there are no figures: what was recorded stays recorded."""
    try:
        return of_run(run)
    except Exception as error:  # noqa: BLE001 (whatever it is, the sweep goes on)
        return f"its figures cannot be read: {error}"


def _numbers(parameters: Sequence[str]) -> dict[str, str]:
    """The columns of numbers, and their headings."""
    names = dict.fromkeys((*BEFORE, *parameters, *AFTER))
    headings = BEFORE | AFTER
    return {name: headings.get(name) or COLUMNS[name].heading() for name in names}


def _row(
    top: pd.Series, numbers: Iterable[str], bottlenecks: pd.Series, unit: str
) -> tuple[str, ...]:
    """The cells of a top; its test case says what it counts where ``unit`` is of several."""
    case = TEST_CASES[top["test_case"]]
    return (
        str(top["system"]),
        str(top["label"]),
        case.short if case.unit == unit else f"{case.short}, {case.unit}",
        *(_number(column, top) for column in numbers),
        str(bottlenecks.get(top["point"], limits.UNKNOWN)),
        ", ".join(top["doubts"]) or "none",
    )


def _number(column: str, top: pd.Series) -> str:
    if column != SUSTAINED:
        return str(cell(column, top[column]))  # of finished RST the bare text
    if not top["sound"]:
        return MISSING
    return str(cell("throughput_msg_s", top["throughput_msg_s"])) + "?" * (not top["sustained"])


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


def _folded(row: tuple[str, ...], unit: str, names: Sequence[str], width: int) -> Iterator[str]:
    """A row as a paragraph: where it is, then every figure with its name and unit."""
    place, figures = row[: len(HEADINGS)], row[len(HEADINGS) :]
    yield from wrap(", ".join(place), width, subsequent_indent="  ")
    told = (_named(in_unit(name, unit), text) for name, text in zip(names, figures, strict=True))
    for line in wrap("; ".join(told), width - 2, break_on_hyphens=False):
        yield f"  {line}".replace(NO_BREAK, " ")


def _named(heading: str, figure: str) -> str:
    """``p50 3.1 ms`` of the heading ``p50, ms``; a figure stays with its unit."""
    name, _, unit = heading.partition(", ")
    return f"{name} {figure}" + (f"{NO_BREAK}{unit}" if unit and figure != MISSING else "")


def _first(frame: pd.DataFrame) -> dict[str, object]:
    return {} if frame.empty else {str(key): value for key, value in frame.iloc[0].items()}
