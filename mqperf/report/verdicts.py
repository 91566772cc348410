"""What the numbers say: sentences, each computed from the tables."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.figures import labels
from mqperf.report.rst import MISSING, Grid, Note, Text, link
from mqperf.report.words import TEST_CASES, Layout, amount, joined, three_figures
from mqperf.stats.checks import CHECKS
from mqperf.tables import Tables, without_sentinels

ROUNDING = "Throughput in overviews is rounded to three significant figures."


def tops(tables: Tables, layouts: Sequence[Layout]) -> pd.DataFrame:
    """One row per layout and test case: the point with the highest throughput.

    Adds ``label`` and ``folder`` of the layout, and ``doubts``, the kinds of doubt about the point.
    """
    points = tables["points"]
    best = [
        layout.of(points, case)
        .nlargest(1, "throughput_msg_s")
        .assign(label=layout.label, folder=layout.folder)
        for layout in layouts
        for case in TEST_CASES
    ]
    tops = pd.concat(best, ignore_index=True).dropna(subset="throughput_msg_s")
    doubts = tables["doubts"].drop_duplicates(["point", "kind"])
    about = [list(doubts.loc[doubts["point"] == point, "kind"]) for point in tops["point"]]
    return tops.assign(doubts=pd.Series(about, index=tops.index, dtype=object))


def verdicts(best: pd.DataFrame, system: str) -> list[str]:
    """What to take home about one system, from its ``tops``."""
    return [*_leaders(best, system), *_costs(best)]


def _leaders(best: pd.DataFrame, system: str) -> Iterator[Text]:
    for case, words in TEST_CASES.items():
        rows = best[best["test_case"] == case].sort_values("throughput_msg_s")
        if rows.empty:
            continue
        top, last = rows.iloc[-1], rows.iloc[0]
        sentence = Text("**{}**: {} handled at most **{} msg/sec**, with {} ({})").format(
            words.short,
            system,
            three_figures(top["throughput_msg_s"]),
            amount(top["threads"], "thread"),
            top["label"],
        )
        if len(rows) > 1:
            sentence += Text("; {} ({})").format(_against(top, last), last["label"])
        if top["doubts"]:
            sentence += Text("; doubts about that point: {}").format(joined(top["doubts"]))
        yield sentence + Text(".")


def _against(top: pd.Series, last: pd.Series) -> str:
    """How far apart two tops are, as far as their 95 % intervals tell."""
    low, high = top["throughput_msg_s_low"], last["throughput_msg_s_high"]
    if pd.notna(low) and pd.notna(high) and low <= high:
        return "the 95 % intervals do not tell it from the lowest top"
    ratio = top["throughput_msg_s"] / last["throughput_msg_s"]
    return f"{ratio:.1f} times the lowest top, {three_figures(last['throughput_msg_s'])} msg/sec"


def _costs(best: pd.DataFrame) -> Iterator[str]:
    """What replicated queues change against the plain ones of the same topology."""
    for topology in best["topology"].unique():
        of = best[best["topology"] == topology].pivot_table(
            index="test_case", columns="queues", values="throughput_msg_s"
        )
        for plain, queues in product(of.columns, of.columns):
            if labels.copied(plain) or not labels.copied(queues):
                continue
            change = (of[queues] / of[plain] - 1).dropna()
            parts = [
                f"{words.short} {_percent(change[case])}"
                for case, words in TEST_CASES.items()
                if case in change
            ]
            label = labels.layout(topology, queues)
            yield f"{label} against the same with {plain} queues: {joined(parts)}."


def _percent(change: float) -> str:
    """``+5 %``, or a fall with a real minus sign."""
    return f"{change * 100:+.0f} %".replace("-", "\N{MINUS SIGN}")


def care(tables: Tables) -> list[str]:
    """How much of the data is to be read with care: doubts and failed attempts."""
    runs, doubts = tables["runs"], without_sentinels(tables)["doubts"]
    failed = int(runs["status"].eq("failed").sum())
    watching = len(tables["doubts"]) - len(doubts)
    about = doubts["point"].nunique()
    points = tables["points"]["point"].nunique()
    sentences = [
        f"{amount(len(doubts), 'doubt')} about {about} of {amount(points, 'point')};"
        " each stands beside its number, and its point is drawn hollow."
        if len(doubts)
        else f"No check raised a doubt about any of the {amount(points, 'point')}."
    ]
    if watching:
        told = "{} about sentinels, which :doc:`the methods <methods/index>` tell."
        sentences.append(Text(told).format(amount(watching, "doubt")))
    if failed:
        sentences.append(f"{amount(failed, 'attempt')} of {len(runs)} failed; they have rows too.")
    return sentences


def overview(best: pd.DataFrame, layouts: Sequence[Layout]) -> Grid:
    """Top throughput per topology, a column per test case, then the thread counts it was at.

    The kinds of doubt about a top are its footnotes; the sentences are on the topology's page.
    """
    cases = [case for case in TEST_CASES if (best["test_case"] == case).any()]
    unit = COLUMNS["throughput_msg_s"].shown
    headings = [f"{TEST_CASES[case].short}, {unit}" for case in cases]
    headings += [f"{TEST_CASES[case].short} at, threads" for case in cases]
    notes: dict[str, Note] = {}
    rows = []
    for layout in layouts:
        tops = {top["test_case"]: top for top in layout.of(best).to_dict("records")}
        page = link(layout.label, layout.folder)
        figures = [_top_cell(tops.get(case), notes) for case in cases]
        threads = [str(tops[case]["threads"]) if case in tops else MISSING for case in cases]
        rows.append((page, *figures, *threads))
    return Grid(
        "", ("Topology", *headings), tuple(rows), tuple(notes.values()), style="numbers named"
    )


def _top_cell(top: Mapping[Hashable, Any] | None, notes: dict[str, Note]) -> Text:
    if top is None:
        return Text(MISSING)
    for kind in top["doubts"]:
        asked = f": {CHECKS[kind].question}" if kind in CHECKS else ""
        notes.setdefault(kind, Note(f"top-{len(notes) + 1}", f"doubt, {kind}{asked}"))
    marks = Text("").join(notes[kind].mark for kind in top["doubts"])
    return Text(three_figures(top["throughput_msg_s"])) + marks


def doubt_kinds(doubts: pd.DataFrame) -> Grid:
    """How many doubts of each kind there are, and what one of them says."""
    counted = doubts.groupby("kind", sort=False)["text"].agg(["size", "first"])
    rows = [
        (str(kind), str(counted.loc[kind, "size"]), str(counted.loc[kind, "first"]))
        for kind in counted.index
    ]
    return Grid("", ("kind", "doubts", "for example"), tuple(rows), style="")
