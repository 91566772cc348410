"""What the numbers say: sentences, each computed from the tables."""

from collections.abc import Iterator, Sequence

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.plan import QUEUES
from mqperf.report.rst import MISSING, Grid, escape
from mqperf.report.words import TEST_CASES, Layout, amount, joined, three_figures
from mqperf.tables import Tables

ROUNDING = "Throughput in overviews is rounded to three significant figures."


def tops(points: pd.DataFrame, layouts: Sequence[Layout]) -> pd.DataFrame:
    """One row per layout and test case: the point with the highest throughput.

    Adds ``label`` and ``folder`` of the layout, and ``edge``: whether no more threads were tried.
    """
    best = [
        _top(rows).assign(label=layout.label, folder=layout.folder)
        for layout in layouts
        for case in TEST_CASES
        if not (rows := _measured(layout.of(points, case))).empty
    ]
    return pd.concat(best, ignore_index=True) if best else points.head(0)


def _measured(points: pd.DataFrame) -> pd.DataFrame:
    return points[points["throughput_msg_s"].notna()]


def _top(points: pd.DataFrame) -> pd.DataFrame:
    best = points.nlargest(1, "throughput_msg_s")
    return best.assign(edge=len(points) > 1 and best["threads"].iloc[0] == points["threads"].max())


def verdicts(best: pd.DataFrame, system: str) -> list[str]:
    """What to take home about one system, from its ``tops``."""
    return [*_leaders(best, system), *_costs(best), *_edges(best)]


def _leaders(best: pd.DataFrame, system: str) -> Iterator[str]:
    for case, words in TEST_CASES.items():
        rows = best[best["test_case"] == case].sort_values("throughput_msg_s")
        if rows.empty:
            continue
        top, last = rows.iloc[-1], rows.iloc[0]
        sentence = (
            f"**{words.short}**: {escape(system)} handled at most"
            f" **{three_figures(top['throughput_msg_s'])} msg/sec**,"
            f" with {top['threads']} threads ({escape(top['label'])})"
        )
        if len(rows) > 1:
            sentence += f"; {_against(top, last)} ({escape(last['label'])})"
        yield sentence + "."


def _against(top: pd.Series, last: pd.Series) -> str:
    """How far apart two tops are, as far as their 95 % intervals tell."""
    low, high = top["throughput_msg_s_low"], last["throughput_msg_s_high"]
    if pd.notna(low) and pd.notna(high) and low <= high:
        return "the 95 % intervals do not tell it from the lowest top"
    ratio = top["throughput_msg_s"] / last["throughput_msg_s"]
    return f"{ratio:.1f} times the lowest top, {three_figures(last['throughput_msg_s'])} msg/sec"


def _costs(best: pd.DataFrame) -> Iterator[str]:
    """What replicated queues change against the plain ones of the same topology."""
    plain, *others = QUEUES
    for topology in best["topology"].unique():
        of = best[best["topology"] == topology].pivot_table(
            index="test_case", columns="queues", values="throughput_msg_s"
        )
        for queues in others:
            if plain not in of or queues not in of:
                continue
            change = (of[queues] / of[plain] - 1).dropna()
            parts = [
                f"{words.short} {_percent(change[case])}"
                for case, words in TEST_CASES.items()
                if case in change
            ]
            label = best.loc[best["topology"].eq(topology) & best["queues"].eq(queues), "label"]
            yield f"{escape(label.iloc[0])} against the same with {plain} queues: {joined(parts)}."


def _percent(change: float) -> str:
    """``+5 %``, or a fall with a real minus sign."""
    return f"{change * 100:+.0f} %".replace("-", "\N{MINUS SIGN}")


def _edges(best: pd.DataFrame) -> Iterator[str]:
    rows = best[best["edge"].astype(bool)]
    if len(rows):
        where = [
            f"{TEST_CASES[case].short} ({escape(label)})"
            for case, label in zip(rows["test_case"], rows["label"], strict=True)
        ]
        yield (
            "Throughput was still highest at the largest thread count tried, so that the top is a"
            f" lower bound, for {joined(where)}."
        )


def care(tables: Tables) -> list[str]:
    """How much of the data is to be read with care: doubts and failed attempts."""
    doubts, runs = tables["doubts"], tables["runs"]
    failed = int(runs["status"].eq("failed").sum())
    about = doubts["point"].nunique()
    points = tables["points"]["point"].nunique()
    sentences = [
        f"{amount(len(doubts), 'doubt')} about {about} of {amount(points, 'point')};"
        " each stands beside its number, and its point is drawn hollow."
        if len(doubts)
        else f"No check raised a doubt about any of the {amount(points, 'point')}."
    ]
    if failed:
        sentences.append(f"{amount(failed, 'attempt')} of {len(runs)} failed; they have rows too.")
    return sentences


def overview(best: pd.DataFrame, layouts: Sequence[Layout]) -> Grid:
    """Top throughput per topology, a column per test case, then the thread counts it was at."""
    cases = [case for case in TEST_CASES if (best["test_case"] == case).any()]
    unit = COLUMNS["throughput_msg_s"].shown
    headings = [f"{TEST_CASES[case].short}, {unit}" for case in cases]
    headings += [f"{TEST_CASES[case].short} at, threads" for case in cases]
    rows = []
    for layout in layouts:
        own = layout.of(best).set_index("test_case")
        figures = [three_figures(v) for v in own["throughput_msg_s"].reindex(cases).fillna(-1)]
        threads = [str(v) for v in own["threads"].reindex(cases).astype("Int64")]
        link = f":doc:`{layout.label.replace('>', chr(92) + '>')} <{layout.folder}/index>`"
        cells = [MISSING if v in ("-1", "<NA>") else v for v in [*figures, *threads]]
        rows.append((link, *cells))
    return Grid("", ("Topology", *headings), tuple(rows), style="numbers named")


def doubt_kinds(doubts: pd.DataFrame) -> Grid:
    """How many doubts of each kind there are, and what one of them says."""
    counted = doubts.groupby("kind", sort=False)["text"].agg(["size", "first"])
    rows = [
        (escape(str(kind)), str(counted.loc[kind, "size"]), escape(str(counted.loc[kind, "first"])))
        for kind in counted.index
    ]
    return Grid("", ("kind", "doubts", "for example"), tuple(rows), style="")
