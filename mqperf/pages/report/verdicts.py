"""What the numbers say: sentences, each computed from the tables."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.figures import labels
from mqperf.pages.report import control_runs
from mqperf.pages.report.rst import MISSING, Grid, Note, Text, link
from mqperf.pages.report.tops import against, higher, why_not
from mqperf.pages.report.words import Layout, joined, three_figures
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import TEST_CASES, in_unit
from mqperf.study.stats.change import Change, change
from mqperf.study.stats.checks import WEIGHTS, weight_of
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, all_attempts, where

ROUNDING = "Throughput in overviews is rounded to three significant figures."

UNTOLD = "whether it keeps up is not known, as the rate of sending was not recorded"
"""What is said of a throughput that no doubt is about, and that is not known to be sustained."""


def verdicts(best: pd.DataFrame, system: str) -> list[str]:
    """What to take home about one system, from its ``tops``."""
    return [*_leaders(best, system), *_costs(best)]


def _leaders(best: pd.DataFrame, system: str) -> Iterator[Text]:
    for case, words in TEST_CASES.items():
        rows = where(best, test_case=case).sort_values(FIGURE)
        if len(rows):
            yield Text("**{}**: {}.").format(words.short, _leader(rows, system, words.unit))


def _leader(rows: pd.DataFrame, system: str, unit: str) -> Text:
    """What the best of these tops sustains, or why none is sustained; then the raw maximum."""
    raw = rows.sort_values(f"top_{FIGURE}").iloc[-1].to_dict()
    most = Text("the raw maximum is {} {}/sec, with {} ({}), {}").format(
        three_figures(raw[f"top_{FIGURE}"]),
        unit,
        raw["top_at"],
        raw["top_label"],
        against(raw["top_doubts"]),
    )
    if why := why_not(rows):
        return Text("of {} {}; {}").format(system, why, most)
    kept = bool(rows["sustained"].any())
    sound = rows[rows["sustained"] if kept else rows["sound"]]
    did = "sustained" if kept else "handled at most"
    sentence = _sound(sound, f"{system} {did}", unit)
    if not kept:
        sentence += Text("; {}").format(UNTOLD)
    if raw[f"top_{FIGURE}"] > sound[FIGURE].iloc[-1]:
        sentence += Text("; {}").format(most)
    return sentence


def _sound(sound: pd.DataFrame, did: str, unit: str) -> Text:
    """The best of these tops, and how far it is from the lowest of them."""
    top, last = sound.iloc[-1], sound.iloc[0]
    sentence = Text("{} **{} {}/sec**, with {} ({})").format(
        did, three_figures(top[FIGURE]), unit, top["at"], top["label"]
    )
    if len(sound) > 1:
        sentence += Text("; {} ({})").format(in_unit(_against(top, last), unit), last["label"])
    if top["doubts"]:
        sentence += Text("; doubts about that point: {}").format(joined(top["doubts"]))
    return sentence


def _against(top: pd.Series, last: pd.Series) -> str:
    """How far apart two tops are, as far as their 95 % intervals tell."""
    low, high = top["throughput_msg_s_low"], last["throughput_msg_s_high"]
    if pd.notna(low) and pd.notna(high) and low <= high:
        return "not significantly above the lowest maximum: the 95 % intervals overlap"
    ratio = top["throughput_msg_s"] / last["throughput_msg_s"]
    lowest = three_figures(last["throughput_msg_s"])
    return f"{ratio:.1f} times the lowest maximum, {lowest} msg/sec"


def _costs(best: pd.DataFrame) -> Iterator[str]:
    """What replicated queues change against the plain ones of the same topology."""
    for topology in best["topology"].unique():
        of = where(best, topology=topology)
        kinds = sorted(of["queues"].unique())
        for plain, queues in product(kinds, kinds):
            if labels.copied(plain) or not labels.copied(queues):
                continue
            parts = list(_changes(where(of, queues=plain), where(of, queues=queues)))
            if parts:
                label = labels.layout(topology, queues)
                yield f"{label} against the same with {plain} queues: {'; '.join(parts)}."


def _changes(plain: pd.DataFrame, other: pd.DataFrame) -> Iterator[str]:
    """What changes in each test case that both have; percentages of sound points only."""
    for case, words in TEST_CASES.items():
        pair = [
            rows[rows["test_case"].eq(case) & rows["throughput_msg_s"].gt(0)].to_dict("records")
            for rows in (plain, other)
        ]
        if not all(pair):
            continue
        before, after = (rows[0] for rows in pair)
        if not (before["sound"] and after["sound"]):
            yield f"{words.short} not comparable: a maximum is doubtful"
        else:
            at = [top["at"] for top in (after, before)]
            yield f"{words.short} {_told(change(before, after), *at)}"


def _told(moved: Change, at: str, before: str) -> str:
    if pd.isna(moved.low):
        interval = "without repeats, so without an interval"
    else:
        interval = f"95 % interval {_percent(moved.low)} to {_percent(moved.high)}"
    other = before if "," in before else before.split(maxsplit=1)[0]  # the number of threads alone
    elsewhere = "" if at == before else f"; {at} against {other}"
    return f"{_percent(moved.change)} ({interval}{elsewhere})"


def _percent(change: float) -> str:
    """``+5 %``, or a fall with a real minus sign."""
    return f"{change * 100:+.0f} %".replace("-", "\N{MINUS SIGN}")


def data_quality(tables: Tables) -> list[str]:
    """What lowers the quality of the data beside doubts: attempts that failed, or are damaged."""
    runs, about_control = all_attempts(tables), control_runs.doubts_of(tables)
    failed = int(runs["status"].eq("failed").sum())
    sentences: list[str] = []
    if len(about_control):
        sentence = "{} about control runs, listed in :doc:`the methods <methods/index>`."
        sentences.append(Text(sentence).format(amount(len(about_control), "doubt")))
    if failed:
        sentences.append(f"{amount(failed, 'attempt')} of {len(runs)} failed; they have rows too.")
    if unreadable := int(runs["status"].eq("unreadable").sum()):
        sentences.append(
            f"{amount(unreadable, 'run')} of {len(runs)} cannot be read and"
            f" {'is' if unreadable == 1 else 'are'} in no figure; the reasons are among the doubts."
        )
    return sentences


def overview(best: pd.DataFrame, layouts: Sequence[Layout]) -> Grid:
    """Sustained throughput per topology, a column per test case, then the thread counts it was at.

    What doubts found is in footnotes, and so is the raw maximum where it is higher.
    """
    cases = [case for case in TEST_CASES if (best["test_case"] == case).any()]
    unit = COLUMNS["throughput_msg_s"].shown
    headings = [
        in_unit(f"{TEST_CASES[case].short}, {unit}", TEST_CASES[case].unit) for case in cases
    ]
    only_threads = not best["at"].str.contains(",").any()
    headings += [f"{TEST_CASES[case].short} at{', threads' * only_threads}" for case in cases]
    notes: dict[str, Note] = {}
    rows = []
    for layout in layouts:
        tops = {top["test_case"]: top for top in layout.of(best).to_dict("records")}
        page = link(layout.label, layout.folder)
        figures = [top_cell(tops.get(case), notes) for case in cases]
        at = "threads" if only_threads else "at"
        places = [str(tops[case][at]) if case in tops else MISSING for case in cases]
        rows.append((page, *figures, *places))
    return Grid(
        "", ("Topology", *headings), tuple(rows), tuple(notes.values()), style="numbers named"
    )


def top_cell(top: Mapping[Hashable, Any] | None, notes: dict[str, Note]) -> Text:
    """A top in an overview, with marks of what is to be known of it; new ones go to ``notes``."""
    if top is None:
        return Text(MISSING)
    told = list(_to_be_known(top))
    for text in told:
        notes.setdefault(text, Note(f"top-{len(notes) + 1}", text))
    return Text(three_figures(top[FIGURE])) + Text("").join(notes[text].mark for text in told)


def _to_be_known(top: Mapping[Hashable, Any]) -> Iterator[str]:
    """Why it is not sustained, what doubts found, and the raw maximum where that is higher."""
    if not top["sound"]:
        yield f"raw maximum, not sustained: {why_not(pd.DataFrame([top]))}"
    elif not top["sustained"]:
        yield f"at most: {UNTOLD}"
    for kind, found in top["findings"].items():
        yield f"doubt, {kind}: {found}"
    if higher(top):
        found = "; ".join(f"doubt, {kind}: {text}" for kind, text in top["top_findings"].items())
        most = f"{three_figures(top[f'top_{FIGURE}'])} {TEST_CASES[top['test_case']].unit}/sec"
        yield "; ".join(filter(None, [f"raw maximum: {most}, with {top['top_at']}", found]))


def doubt_kinds(doubts: pd.DataFrame) -> Grid:
    """How many doubts of each kind there are, the heaviest first, and what one of them says."""
    counted = doubts.groupby("kind", sort=False)["text"].agg(["size", "first"])
    kinds = sorted(counted.index, key=lambda kind: WEIGHTS.index(weight_of(str(kind))))
    rows = [
        (
            weight_of(str(kind)),
            str(kind),
            str(counted.loc[kind, "size"]),
            str(counted.loc[kind, "first"]),
        )
        for kind in kinds
    ]
    return Grid("", ("weight", "kind", "doubts", "for example"), tuple(rows), style="")
