"""Section on conditions: the factor by which each figure changes against the first condition."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from mqperf.pages.report import drawings
from mqperf.pages.report.rst import MISSING, Text
from mqperf.pages.report.words import joined, three_figures
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.study.stats.compare import WITHIN_RUN
from mqperf.study.tables import conditions
from mqperf.study.tables.places import CONDITION

LATENCY = "latency_mean_s"
FIGURES = (LATENCY, "latency_p99_s", "throughput_msg_s")
"""Figures whose factors a page shows; the table has more."""

Row = Mapping[Any, Any]


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each point and condition: latency and factors."""
    rows = view.tables["factors"]
    caption = view.caption("factors of conditions")
    table, columns = _table(rows)
    yield Content(
        heading="Factors of the conditions",
        words=[*_words(view)],
        caption=caption,
        rows=table,
        columns=columns,
        drawing=drawings.factors(caption, rows),
        data=rows,
        counts_messages=True,
    )


def _words(view: View) -> Iterator[str]:
    """Yield the definition of a factor, and the meaning of its interval."""
    factors = view.tables["factors"]
    first = str(conditions(view.tables)[CONDITION].iloc[0])
    yield Text(
        "Each factor is a figure under the condition divided by the same figure under *{}*, as"
        " geometric means; latency is {}."
    ).format(first, view.case.finish.latency)
    kinds = set(factors.loc[factors["figure"].isin(FIGURES), "interval_kind"])
    if "repeats" in kinds:
        yield "It is followed by its 95 % interval over the repeats."
    if WITHIN_RUN in kinds:
        yield (
            "If a point was measured once, its 95 % interval is from within the runs, and does not"
            " include the variation between runs."
        )
    yield from _without_interval(factors, view.case.noun)
    if factors["published_factor"].notna().any():
        yield Text("*Published* is the factor that a publication reports, as the plan states it.")


def _without_interval(factors: pd.DataFrame, noun: str) -> Iterator[Text]:
    """Yield a sentence on the factors without an interval, for each reason."""
    rows = factors[factors["interval_kind"].eq("none") & factors["figure"].isin(FIGURES)]
    once = [rows[f"repeats_{side}"].eq(1) for side in "ab"]
    reasons = {
        f"measured once, and with too short or unsteady a window, or too few {noun}s in it, for an"
        " interval from within the run": once[0] & once[1],
        "measured only once under one of the two conditions": once[0] ^ once[1],
        "equal in all repeats": ~once[0] & ~once[1],
    }
    for reason, mask in reasons.items():
        parts = [
            Text("{} under {}").format(
                COLUMNS[str(figure)].label,
                Text(joined([Text("*{}*").format(name) for name in of_figure[CONDITION].unique()])),
            )
            for figure, of_figure in rows[mask].groupby("figure", sort=False)
        ]
        if parts:
            yield Text("Without an interval: {}; {}.").format(Text("; ").join(parts), reason)


def _table(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return keys, latency and formatted factors of each row; and the headings of the columns."""
    stated = [name for name in parameters() if name in rows.columns and name != CONDITION]
    keys = [CONDITION, "threads", *stated]
    columns = {name: COLUMNS[name].heading() for name in (*keys, LATENCY)}
    columns |= {f"factor {figure}": f"factor of {COLUMNS[figure].label}" for figure in FIGURES}
    if rows["published_factor"].notna().any():
        columns["published"] = "published"
    if rows["doubted"].notna().any():
        columns["doubted"] = "doubts (A: first condition)"
    lines = []
    for _, point in rows.groupby(keys, sort=False, dropna=False):
        by_figure = {str(row["figure"]): row for row in point.to_dict("records")}
        first, latency = next(iter(by_figure.values())), by_figure.get(LATENCY, {})
        lines.append(
            {name: first[name] for name in keys}
            | {LATENCY: latency.get("value_b")}
            | {f"factor {figure}": factor(by_figure.get(figure)) for figure in FIGURES}
            | {"published": _published(latency), "doubted": _doubts(by_figure.values())}
        )
    return pd.DataFrame(lines), columns


def factor(row: Row | None) -> str:
    """Format a factor: ``3.52 (3.40 to 3.64)``, followed by its error bound from clocks, if any."""
    if row is None:
        return MISSING
    text = three_figures(row["ratio"])
    if pd.notna(row["ratio_low"]):
        text += f" ({three_figures(row['ratio_low'])} to {three_figures(row['ratio_high'])})"
    share = row["clock_share"]
    return f"{text} ± {100 * share:.2g} % by clocks" if share > 0 else text


def _published(row: Row) -> str:
    published = row.get("published_factor")
    return MISSING if pd.isna(published) else f"{published:g}"


def _doubts(rows: Iterable[Row]) -> str:
    doubted = (row["doubted"] for row in rows)
    return next((kinds for kinds in doubted if isinstance(kinds, str)), MISSING)


SECTION = Section("factors", content)
