"""Conditions against the first of them, on a page: by which factor each figure changes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from mqperf.pages.report.rst import MISSING, Grid, Text
from mqperf.pages.report.words import cell, joined, three_figures
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, conditions
from mqperf.study.tables.places import CONDITION

LATENCY = "latency_mean_s"
FIGURES = (LATENCY, "latency_p99_s", "throughput_msg_s")
"""The figures whose factors a page gives; the table has more."""

Row = Mapping[Any, Any]


def about(tables: Tables, test_case: str) -> Text:
    """What a factor is, and what its interval knows."""
    factors = tables["factors"]
    latency = TEST_CASES[test_case].finish.latency
    first = str(conditions(tables)[CONDITION].iloc[0])
    sentences = [
        Text(
            "Each factor is a figure under the condition by the same figure under *{}*, between"
            " geometric means; latency is {}."
        ).format(first, latency)
    ]
    kinds = set(factors.loc[factors["figure"].isin(FIGURES), "interval_kind"])
    if "repeats" in kinds:
        sentences.append(Text("It is followed by its 95 % interval over the repeats."))
    if "within run" in kinds:
        sentences.append(
            Text(
                "If a point was measured once, its 95 % interval is from within the runs, and does"
                " not include the variation between runs."
            )
        )
    sentences += _without_interval(factors, TEST_CASES[test_case].noun)
    if factors["published_factor"].notna().any():
        sentences.append(
            Text("*Published* is the factor that a publication reports, as the plan states it.")
        )
    return Text(" ").join(sentences)


def _without_interval(factors: pd.DataFrame, noun: str) -> Iterator[Text]:
    """Which of the factors have none, and why, as far as there are such."""
    rows = factors[factors["interval_kind"].eq("none") & factors["figure"].isin(FIGURES)]
    once = [rows[f"repeats_{side}"].eq(1) for side in "ab"]
    why = {
        f"measured once, and with too short or unsteady a window, or too few {noun}s in it, for an"
        " interval from within the run": once[0] & once[1],
        "measured once under one of both conditions": once[0] ^ once[1],
        "equal in all repeats": ~once[0] & ~once[1],
    }
    for reason, mask in why.items():
        parts = [
            Text("{} under {}").format(
                COLUMNS[str(figure)].label,
                Text(joined([Text("*{}*").format(name) for name in own[CONDITION].unique()])),
            )
            for figure, own in rows[mask].groupby("figure", sort=False)
        ]
        if parts:
            yield Text("Without an interval: {}; {}.").format(Text("; ").join(parts), reason)


def grid(caption: str, tables: Tables) -> Grid:
    """One row per point and condition, with the latency under it."""
    rows = tables["factors"]
    others = [name for name in parameters() if name in rows.columns and name != CONDITION]
    published = rows["published_factor"].notna().any()
    doubted = rows["doubted"].notna().any()
    headings = (
        COLUMNS[CONDITION].heading(),
        *(COLUMNS[name].heading() for name in ("threads", *others)),
        COLUMNS[LATENCY].heading(),
        *(f"factor of {COLUMNS[figure].label}" for figure in FIGURES),
        *(["published"] if published else []),
        *(["doubts (A: first condition)"] if doubted else []),
    )
    lines = []
    for _, point in rows.groupby([CONDITION, "threads", *others], sort=False, dropna=False):
        by_figure = {str(row["figure"]): row for row in point.to_dict("records")}
        one = next(iter(by_figure.values()))
        lines.append(
            (
                str(one[CONDITION]),
                *(cell(name, one[name]) for name in ("threads", *others)),
                cell(LATENCY, by_figure[LATENCY]["value_b"]) if LATENCY in by_figure else MISSING,
                *(factor(by_figure.get(figure)) for figure in FIGURES),
                *([_published(by_figure.get(LATENCY))] if published else []),
                *([_doubts(by_figure.values())] if doubted else []),
            )
        )
    return Grid(caption, headings, tuple(lines))


def factor(row: Row | None) -> str:
    """``3.52 (3.40 to 3.64)``; what clocks of hosts may have made of it stands behind it."""
    if row is None:
        return MISSING
    text = three_figures(row["ratio"])
    if pd.notna(row["ratio_low"]):
        text += f" ({three_figures(row['ratio_low'])} to {three_figures(row['ratio_high'])})"
    share = row["clock_share"]
    return f"{text} ± {100 * share:.2g} % by clocks" if share > 0 else text


def _published(row: Row | None) -> str:
    if row is None or pd.isna(row["published_factor"]):
        return MISSING
    return f"{row['published_factor']:g}"


def _doubts(rows: Iterable[Row]) -> str:
    told = (row["doubted"] for row in rows)
    return next((kinds for kinds in told if isinstance(kinds, str)), MISSING)
