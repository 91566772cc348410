"""A comparison of two sets of runs, as text for a terminal and as a page of RST.

Both say what A and B differ in before they say any number.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.figures import ratio_sheet, write_svg
from mqperf.figures.ratios import point_label
from mqperf.one_line import one_line
from mqperf.report.rst import Grid, bullets, image, slug, table, title, wrap
from mqperf.report.words import amount, cell
from mqperf.tables import write as write_tables

PICTURE = "ratios"

RULES = (
    "The ratio is B / A, of geometric means, with its 95 % interval (Welch's) over the repeats.",
    "An interval marked (within run) knows nothing of other runs, and gives no verdict.",
    "A verdict needs a difference of {practical}, and more than chance after Holm's rule.",
    "A point with a doubt is compared, and marked: it may be the measurement that differs.",
)

Row = Mapping[Any, Any]
"""A row of the table, by its columns."""


def summary(comparison: pd.DataFrame) -> str:
    """How many figures of how many points were compared, and how many verdicts there are."""
    points = len(
        comparison.drop_duplicates(["system", "topology", "queues", "test_case", "threads"])
    )
    verdicts = comparison["verdict"].value_counts()
    told = [f"{verdicts.get(name, 0)} {name}" for name in ("better", "worse", "cannot tell")]
    compared = f"{amount(len(comparison), 'comparison')} at {amount(points, 'point')}"
    return f"{compared}: {', '.join(told)}."


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
        yield f"  {heading:22} {values:24} {_ratio(row):36} {row['verdict']}"
    yield summary(comparison)


def page(
    name: str,
    differences: pd.DataFrame,
    comparison: pd.DataFrame,
    pictures: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as RST; ``pictures`` are pairs of a file's name without suffix and a description."""
    parts: list[str] = [title(name, "=", over=True), wrap(summary(comparison))]
    parts += [title("What A and B differ in", "-"), _differences(differences)]
    practical = f"{100 * comparison['practical'].iloc[0]:g} %"
    rules = [rule.format(practical=practical) for rule in RULES]
    parts += [title("Point by point", "-"), bullets(rules)]
    parts += [image(slug(file), told) for file, told in pictures]
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
            str(row["verdict"]),
            row["doubted"] if pd.notna(row["doubted"]) else "",
        )
        for row in rows.to_dict("records")
    ]
    return table(Grid(COLUMNS[figure].heading(), headings, tuple(lines)))


def _value(row: Row, side: str) -> str:
    return cell(str(row["figure"]), row[side])


def _ratio(row: Row) -> str:
    ratio = f"{row['ratio']:.3f}"
    if pd.isna(row["ratio_low"]):
        return ratio
    mark = " (within run)" if row["interval_kind"] == "within run" else ""
    return f"{ratio}, {row['ratio_low']:.3f} to {row['ratio_high']:.3f}{mark}"


def write(out: Path, name: str, *, differences: pd.DataFrame, comparison: pd.DataFrame) -> Path:
    """Write page, figure and both tables into the folder ``out``, and give the page."""
    out.mkdir(parents=True, exist_ok=True)
    write_tables({"differences": differences, "comparison": comparison}, out)
    told = summary(comparison)
    write_svg(
        ratio_sheet(comparison), out / f"{PICTURE}.svg", title="Ratios B / A", description=told
    )
    file = out / "index.rst"
    file.write_text(page(name, differences, comparison, [(PICTURE, told)]), encoding="utf-8")
    return file
