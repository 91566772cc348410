"""Sentences on a comparison of two sets of runs, and the comparison as text for a terminal.

The facts in which A and B differ come before any number.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

import pandas as pd

from mqperf.base.one_line import amount, one_line, percents
from mqperf.pages.figures.ratios import MARKED, point_label
from mqperf.pages.report.rst import MISSING
from mqperf.pages.report.words import cell
from mqperf.plan import MOST as MOST_DECIDED
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import in_unit, unit_of
from mqperf.study.stats.between_rates import BETWEEN
from mqperf.study.stats.compare import CANNOT_TELL, MOST_REPEATS, WITHIN_RUN
from mqperf.study.stats.decided import ALIKE, SEQUENTIAL
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import where
from mqperf.study.tables.axes import SWEEP

RULES = (
    "The ratio is B / A, of geometric means, with its 95 % interval (Welch's) over the repeats.",
    "An interval marked (within run) is from one run only, and gives no verdict.",
    "A verdict needs a difference of {min_effect} that is significant after Holm's correction.",
    'Without a verdict, "shows" is the smallest difference that these repeats mostly show.',
    (
        '"Repeats to decide" is how many of A and of B would mostly show the measured difference,'
        " or {min_effect} if it is smaller, if further runs vary as these did. It is enough if"
        " these would show it, and not known without repeats of both."
    ),
    "A point with a doubt is compared, but marked: the difference may come from the measurement.",
)

APART = (
    "The verdicts marked (not in turns) assume that nothing but the system changed between the runs"
    " of A and those of B, which did not alternate. Repeats do not show such a change: measure A"
    " and B in turns (mqperf run A B --interleave) to rule it out."
)

CLOCKS = (
    "(± ... by clocks) is the error bound of a one-way latency from the clocks of several hosts: a"
    " verdict needs a larger difference."
)

DECIDED = (
    "These plans were repeated until their difference was decided (--decide). The interval of"
    " throughput is valid for any number of repeats, and alike means a difference that is below"
    " {min_effect}. Other figures have no interval or verdict, because throughput ended the runs."
)

LIMITS = (
    "Throughput of a search is its limit. An interval marked (between rates) is all that the 95 %"
    " intervals of both limits allow; if it ends at 0 or inf, search beyond these rates."
)

NOT_IN_TURNS = ("A first", "B first", "in part")

MOST = 9.0
"""Relative difference above which no number is printed: such large ones need no statistics."""

Row = Mapping[Any, Any]
"""A row of the table ``comparison``, by column."""


def answers(comparison: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each figure: at how many points B is better or worse, and by how much.

    Where there is no verdict, it states the range of changes that the intervals allow.
    """
    for name, rows in comparison.groupby("figure", sort=False):
        parts = [
            f"{verdict} at {len(judged)}{_span(judged)}"
            for verdict in ("better", "worse", ALIKE, CANNOT_TELL)
            if len(judged := where(rows, verdict=verdict))
        ]
        if doubted := rows["doubted"].count():
            parts.append(f"doubted at {doubted}")
        points = amount(len(rows), "point")
        yield f"B against A, {COLUMNS[str(name)].label} at {points}: {', '.join(parts)}."


def _span(rows: pd.DataFrame) -> str:
    """Return the range of the observed changes; without verdicts, of those the intervals allow."""
    ends = ["ratio", "ratio"]
    if rows["verdict"].eq(CANNOT_TELL).any():
        ends, rows = ["ratio_low", "ratio_high"], rows[rows["interval_kind"].ne(WITHIN_RUN)]
    low, high = rows[ends[0]].min(), rows[ends[1]].max()
    return f" ({percents(low, high)})" if 0 < low <= high < inf else ""


def text_lines(
    differences: pd.DataFrame,
    comparison: pd.DataFrame,
    sustained_compared: pd.DataFrame | None = None,
) -> Iterator[str]:
    """Yield differing facts, sustained throughputs, a line per figure of a point, and answers."""
    if len(differences):
        yield "A and B differ in"
    for row in differences.to_dict("records"):
        yield "  " + one_line(f"{row['what']}: {row['value_in_a']} | {row['value_in_b']}")
    if sustained_compared is not None and len(sustained_compared):
        yield "Sustained throughput, and the raw maximum"
        yield from (f"  {line}" for line in _sustained_lines(sustained_compared))
    previous = ""
    for row in comparison.to_dict("records"):
        if (point := point_label(row)) != previous:
            yield point + (f"  [{row['doubted']}]" if pd.notna(row["doubted"]) else "")
        previous = point
        heading = in_unit(COLUMNS[str(row["figure"])].heading(), unit_of(row["test_case"]))
        values = f"{value(row, 'value_a')} -> {value(row, 'value_b')}"
        ratios = ", ".join(filter(None, [ratio(row), interval(row)]))
        yield f"  {heading:22} {values:24} {ratios:36} {_verdict_and_power(row)}"
    yield from answers(comparison)
    if len(_not_in_turns(comparison)):
        yield APART


def rules(comparison: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on how to read the ratios and verdicts."""
    min_effect = f"{100 * comparison['min_effect'].iloc[0]:g} %"
    yield from (rule.format(min_effect=min_effect) for rule in RULES)
    if comparison["clock_share"].gt(0).any():
        yield CLOCKS
    if comparison["interval_kind"].eq(BETWEEN).any():
        yield LIMITS
    if comparison["interval_kind"].eq(SEQUENTIAL).any():
        yield DECIDED.format(min_effect=min_effect)
    if len(_not_in_turns(comparison)):
        yield APART


def _sustained_lines(rows: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each test case on a layout; ``no point`` where none certainly keeps up."""
    for row in rows.to_dict("records"):
        values = " -> ".join(of_sweep(row, name) for name in ("value_a", "value_b"))
        quotient = "" if pd.isna(row["ratio"]) else f", {ratio(row)}"
        most = " -> ".join(of_sweep(row, name) for name in ("highest_a", "highest_b"))
        yield one_line(f"{sweep_label(row)}: {values}{quotient} (raw maximum {most})")


def sweep_label(row: Row) -> str:
    """Return the label of a sweep: system, topology, kind of queue, and test case."""
    layout = [str(row[name]) for name in SWEEP[:3] if isinstance(row[name], str)]
    return f"{' '.join(layout)}, {row['test_case']}"


def of_sweep(row: Row, column: str) -> str:
    """Format a throughput of a test case on a layout, with its unit."""
    if pd.isna(row[column]):
        return "no point known to keep up"
    return in_unit(f"{cell(FIGURE, row[column])} msg/sec", unit_of(row["test_case"]))


def _not_in_turns(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a verdict whose A and B were measured one after the other."""
    decided = comparison["verdict"] != CANNOT_TELL
    return comparison[decided & comparison["in_turns"].isin(NOT_IN_TURNS)]


def verdict(row: Row) -> str:
    """Return the verdict, marked if its runs of A and B did not alternate."""
    text = str(row["verdict"])
    not_in_turns = text != CANNOT_TELL and row["in_turns"] in NOT_IN_TURNS
    return f"{text} (not in turns)" if not_in_turns else text


def detectable(row: Row) -> str:
    """Return the least difference that these repeats mostly show: ``12 %``."""
    share = row["detectable"]
    if not share <= MOST:  # also if it is NaN
        return MISSING
    return f"{100 * share:.{int(share < 0.1)}f} %"


def repeats_to_decide(row: Row) -> str:
    """Return how many repeats of both sides would mostly lead to a verdict, if there is none."""
    if row["verdict"] != CANNOT_TELL:
        return MISSING
    if row["interval_kind"] not in {"repeats", SEQUENTIAL}:
        return "not known"
    needed = row["repeats_needed"]
    if pd.isna(needed):
        return f"more than {MOST_REPEATS if row['interval_kind'] == 'repeats' else MOST_DECIDED}"
    return "enough" if needed <= min(row["repeats_a"], row["repeats_b"]) else str(needed)


def value(row: Row, side: str) -> str:
    """Format the figure in the column ``value_a`` or ``value_b``, in its display unit."""
    return cell(str(row["figure"]), row[side])


def ratio(row: Row) -> str:
    """Format the ratio."""
    return f"{row['ratio']:.3f}"


def interval(row: Row) -> str:
    """Format the interval, if any, with its kind and its clock error: ``0.970 to 1.021``."""
    clocks = _clocks(row)
    if pd.isna(row["ratio_low"]):
        return clocks
    kind = f"({row['interval_kind']})" if row["interval_kind"] in MARKED else ""
    ends = f"{row['ratio_low']:.3f} to {row['ratio_high']:.3f}"
    return " ".join(filter(None, [ends, kind, clocks]))


def _clocks(row: Row) -> str:
    """Format the part of the difference that clocks of several hosts may account for."""
    share = row["clock_share"]
    if not share > 0:
        return ""
    return "(all by clocks)" if share > MOST else f"(± {100 * share:.2g} % by clocks)"


def _verdict_and_power(row: Row) -> str:
    """Return the verdict, and what the repeats can show."""
    text = verdict(row)
    if pd.isna(row["detectable"]):
        return text
    shows = detectable(row)
    why = "needs more repeats" if shows == MISSING else f"shows {shows} or more"
    return f"{text} ({why}), repeats to decide: {repeats_to_decide(row)}"
