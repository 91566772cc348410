"""What the numbers say: sentences, each computed from the tables."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.figures import labels
from mqperf.report import control_runs
from mqperf.report.rst import MISSING, Grid, Note, Text, link
from mqperf.report.words import Layout, amount, joined, three_figures
from mqperf.stats.change import Change, change
from mqperf.stats.checks import CHECKS
from mqperf.tables import Tables, all_attempts, where
from mqperf.test_cases import TEST_CASES

ROUNDING = "Throughput in overviews is rounded to three significant figures."


def verdicts(best: pd.DataFrame, system: str) -> list[str]:
    """What to take home about one system, from its ``tops``."""
    return [*_leaders(best, system), *_costs(best)]


def _leaders(best: pd.DataFrame, system: str) -> Iterator[Text]:
    for case, words in TEST_CASES.items():
        rows = where(best, test_case=case).sort_values("throughput_msg_s")
        sound = rows[rows["sound"]]
        if len(sound):
            yield Text("**{}**: {}.").format(words.short, _sound(sound, rows, system))
        elif len(rows):
            yield Text("**{}**: {}.").format(words.short, _doubted(rows.iloc[-1], system))


def _sound(sound: pd.DataFrame, rows: pd.DataFrame, system: str) -> Text:
    top, last = sound.iloc[-1], sound.iloc[0]
    sentence = Text("{} handled at most **{} msg/sec**, with {} ({})").format(
        system,
        three_figures(top["throughput_msg_s"]),
        top["at"],
        top["label"],
    )
    if len(sound) > 1:
        sentence += Text("; {} ({})").format(_against(top, last), last["label"])
    if top["doubts"]:
        sentence += Text("; doubts about that point: {}").format(joined(top["doubts"]))
    above = pd.concat([rows["higher"], rows.loc[~rows["sound"], "throughput_msg_s"]]).max()
    if above > top["throughput_msg_s"]:
        sentence += Text("; points with doubts seem to reach {}").format(three_figures(above))
    return sentence


def _doubted(top: pd.Series, system: str) -> str:
    return (
        f"of {system} no point is beyond doubt; the highest seems to be"
        f" {three_figures(top['throughput_msg_s'])} msg/sec,"
        f" with {top['at']} ({top['label']}): {joined(top['doubts'])}"
    )


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
            yield f"{words.short} cannot be told, as a top is doubted"
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
    """What lowers the quality of the data: doubts, failed attempts and runs that cannot be read."""
    runs, about_control = all_attempts(tables), control_runs.doubts_of(tables)
    doubts = tables["doubts"].drop(about_control.index)
    failed = int(runs["status"].eq("failed").sum())
    about = doubts["point"].nunique()
    points = tables["points"]["point"].nunique()
    sentences = [
        f"{amount(len(doubts), 'doubt')} about {about} of {amount(points, 'point')};"
        " each stands beside its number, and its point is hollow where throughput, latency and CPU"
        " are drawn. A point with a doubt about its throughput heads no summary while another"
        " stands."
        if len(doubts)
        else f"No check raised a doubt about any of the {amount(points, 'point')}."
    ]
    if len(about_control):
        sentence = "{} about control runs, which :doc:`the methods <methods/index>` tell."
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
    """Top throughput per topology, a column per test case, then the thread counts it was at.

    The kinds of doubt about a top are its footnotes; the sentences are on the topology's page.
    """
    cases = [case for case in TEST_CASES if (best["test_case"] == case).any()]
    unit = COLUMNS["throughput_msg_s"].shown
    headings = [f"{TEST_CASES[case].short}, {unit}" for case in cases]
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
    """A top in an overview, with the marks of its doubts; new ones are added to ``notes``."""
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
