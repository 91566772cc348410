"""A comparison of two sets of runs, as text for a terminal and as a page of RST.

Both say what A and B differ in before they say any number.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.figures import ratio_sheet, write_svg
from mqperf.figures.ratios import axes_of, point_label
from mqperf.one_line import one_line
from mqperf.report.rst import Grid, bullets, image, slug, table, title, wrap
from mqperf.report.words import amount, cell
from mqperf.stats.compare import CANNOT_TELL, KEYS
from mqperf.tables import write as write_tables

PICTURE = "ratios"

RULES = (
    "The ratio is B / A, of geometric means, with its 95 % interval (Welch's) over the repeats.",
    "An interval marked (within run) knows nothing of other runs, and gives no verdict.",
    "A verdict needs a difference of {min_effect}, and more than chance after Holm's rule.",
    "Without a verdict, (shows ...) is the least difference that these repeats mostly show.",
    "A point with a doubt is compared, and marked: it may be the measurement that differs.",
)

APART = (
    "The verdicts marked (not in turns) assume that nothing but the system changed between the runs"
    " of A and those of B, which did not alternate. Repeats do not show such a change: measure A"
    " and B in turns (mqperf run A B --interleave) to rule it out."
)

CLOCKS = (
    "(± ... by clocks) is what the clocks of several hosts may have made of a one-way latency: a"
    " verdict needs a difference beyond it."
)

NOT_IN_TURNS = ("A first", "B first", "in part")

MOST = 9.0
"""Relative difference beyond which no figure is given: so large ones need no statistics."""

Row = Mapping[Any, Any]
"""A row of the table, by its columns."""


def summary(comparison: pd.DataFrame) -> str:
    """How many figures of how many points were compared, and how many verdicts there are."""
    points = len(comparison.drop_duplicates([*KEYS, *axes_of(comparison)]))
    verdicts = comparison["verdict"].value_counts()
    counts = [f"{verdicts.get(name, 0)} {name}" for name in ("better", "worse", "cannot tell")]
    compared = f"{amount(len(comparison), 'comparison')} at {amount(points, 'point')}"
    return f"{compared}: {', '.join(counts)}."


def text_lines(differences: pd.DataFrame, comparison: pd.DataFrame) -> Iterator[str]:
    """What differs, then one line per figure of a point, then the summary."""
    if len(differences):
        yield "A and B differ in"
    for row in differences.to_dict("records"):
        yield "  " + one_line(f"{row['what']}: {row['value_in_a']} | {row['value_in_b']}")
    point = ""
    for row in comparison.to_dict("records"):
        if (now := point_label(row)) != point:
            yield now + (f"  [{row['doubted']}]" if pd.notna(row["doubted"]) else "")
        point = now
        heading = COLUMNS[str(row["figure"])].heading()
        values = f"{_value(row, 'value_a')} -> {_value(row, 'value_b')}"
        yield f"  {heading:22} {values:24} {_ratio(row):36} {_verdict(row)}"
    yield summary(comparison)
    if len(_apart(comparison)):
        yield APART


def page(
    name: str,
    differences: pd.DataFrame,
    comparison: pd.DataFrame,
    pictures: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as RST; ``pictures`` are pairs of a file's name without suffix and a description."""
    parts: list[str] = [title(name, "=", over=True), wrap(summary(comparison))]
    parts += [title("What A and B differ in", "-"), _differences(differences)]
    min_effect = f"{100 * comparison['min_effect'].iloc[0]:g} %"
    rules = [rule.format(min_effect=min_effect) for rule in RULES]
    rules += [CLOCKS] if comparison["clock_share"].gt(0).any() else []
    rules += [APART] if len(_apart(comparison)) else []
    parts += [title("Point by point", "-"), bullets(rules)]
    parts += [image(slug(file), description) for file, description in pictures]
    for figure in comparison["figure"].unique():
        parts.append(_figure(str(figure), comparison[comparison["figure"] == figure]))
    return "\n\n".join(parts) + "\n"


def _differences(differences: pd.DataFrame) -> str:
    if differences.empty:
        return "In nothing that was recorded."
    rows = [tuple(str(value) for value in row) for row in differences.to_numpy()]
    return table(Grid("", ("", "A", "B"), tuple(rows)))


def _figure(figure: str, rows: pd.DataFrame) -> str:
    headings = ("point", "A", "B", "B / A", "verdict", "doubted")
    lines = [
        (
            point_label(row),
            _value(row, "value_a"),
            _value(row, "value_b"),
            _ratio(row),
            _verdict(row),
            row["doubted"] if pd.notna(row["doubted"]) else "",
        )
        for row in rows.to_dict("records")
    ]
    return table(Grid(COLUMNS[figure].heading(), headings, tuple(lines)))


def _apart(comparison: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of points of which one side was measured before the other."""
    decided = comparison["verdict"] != CANNOT_TELL
    return comparison[decided & comparison["in_turns"].isin(NOT_IN_TURNS)]


def _verdict(row: Row) -> str:
    """The verdict, with what it rests on, or what it would take."""
    verdict = str(row["verdict"])
    if verdict != CANNOT_TELL:
        return verdict + (" (not in turns)" if row["in_turns"] in NOT_IN_TURNS else "")
    if pd.isna(row["detectable"]):
        return verdict
    if row["detectable"] > MOST:
        return f"{verdict} (needs more repeats)"
    return f"{verdict} (shows {100 * row['detectable']:.{int(row['detectable'] < 0.1)}f} % or more)"


def _value(row: Row, side: str) -> str:
    return cell(str(row["figure"]), row[side])


def _ratio(row: Row) -> str:
    ratio = f"{row['ratio']:.3f}"
    if pd.isna(row["ratio_low"]):
        return ratio + _clocks(row)
    mark = " (within run)" if row["interval_kind"] == "within run" else ""
    mark += _clocks(row)
    return f"{ratio}, {row['ratio_low']:.3f} to {row['ratio_high']:.3f}{mark}"


def _clocks(row: Row) -> str:
    """What clocks may have made of it, where several hosts' were used."""
    share = row["clock_share"]
    if not share > 0:
        return ""
    return " (all by clocks)" if share > MOST else f" (± {100 * share:.2g} % by clocks)"


def write(out: Path, name: str, *, differences: pd.DataFrame, comparison: pd.DataFrame) -> Path:
    """Write page, figure and both tables into the folder ``out``, and give the page."""
    out.mkdir(parents=True, exist_ok=True)
    write_tables({"differences": differences, "comparison": comparison}, out)
    description = summary(comparison)
    write_svg(
        ratio_sheet(comparison),
        out / f"{PICTURE}.svg",
        title="Ratios B / A",
        description=description,
    )
    file = out / "index.rst"
    file.write_text(page(name, differences, comparison, [(PICTURE, description)]), encoding="utf-8")
    return file
