"""Sentences about a trend, and the whole trend as text for a terminal."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import isnan
from typing import Any

import pandas as pd

from mqperf.base.one_line import amount, one_line
from mqperf.pages.figures.ratios import point_label
from mqperf.pages.report import comparison as words
from mqperf.pages.report.rst import MISSING
from mqperf.pages.report.words import cell, joined
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import in_unit, unit_of
from mqperf.study.stats.compare import CANNOT_TELL, MIN_EFFECT
from mqperf.study.tables import Tables
from mqperf.study.tables.axes import SWEEP
from mqperf_trend.study.control_cause import DRIFT, UNTOLD, UNWATCHED, found_by
from mqperf_trend.study.references import MOST
from mqperf_trend.study.trends import RISK

RULES = (
    (
        "A step leads to a folder from a reference: the mean of the first folders, up to {most}, of"
        " the same machine that have the point since it last changed. Its ratio is of geometric"
        " means; its 95 % interval includes how much runs, and days, differ by chance."
    ),
    (
        "A change needs a step of {min_effect} or more that is significant after Holm's correction"
        " over all steps to its folder: about {risk} of folders without a change have a false one"
        " at most, once the history shows how much days differ. No later folder alters a verdict."
    ),
    (
        "A change of the machine makes a step, too: control runs show it, if the plan has them"
        " (control_runs: true)."
    ),
    (
        f"{DRIFT}: control runs show the step as well, and all versions stayed the same. The system"
        " did not change."
    ),
    (
        f"{UNTOLD}: control runs show it as well, but versions changed, and control runs use"
        " the system, too."
    ),
    f"{UNWATCHED}: without control runs in both folders the machine may be the cause.",
    "Folders of different machines are drawn together, but never compared.",
)

NO_CONTROL = "No two folders of one machine have control runs: the machine's drift is not known."

MOST_IN_LINE = 8
"""The most folders whose sustained throughput is in a line; of more, the latest."""

Row = Mapping[Any, Any]


def changes(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps that have a verdict and are no drift of the machine."""
    return steps[steps["verdict"].ne(CANNOT_TELL) & steps["cause"].ne(DRIFT)]


def drifts(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps that have a verdict, and that control runs show as well."""
    return steps[steps["verdict"].ne(CANNOT_TELL) & steps["cause"].eq(DRIFT)]


def summary(tables: Tables) -> str:
    """The numbers of folders, of judged steps, and of verdicts."""
    steps, folders = tables["trend_steps"], tables["trend_folders"]
    verdicts = changes(steps)["verdict"].value_counts()
    counts = [f"{verdicts.get(name, 0)} {name}" for name in ("better", "worse")]
    drift = len(drifts(steps))
    judged = f"{amount(len(folders), 'folder')}, {amount(len(steps), 'step')}"
    text = f"{judged}: {', '.join(counts)}, {drift} by drift of the machine."
    if power := _power(steps, folders["folder_place"].max()):
        text += f" In the newest folder a change of {power} would mostly have been found."
    machines = folders["machine_number"].nunique()
    return f"{text} {machines} machines, not compared with each other." if machines > 1 else text


def _power(steps: pd.DataFrame, folder: int) -> str:
    """The change that half of the steps to this folder would show; empty if not known."""
    newest = steps[steps["folder_place"] == folder]
    share = newest["detectable"].median()
    return "" if isnan(share) else words.detectable({"detectable": share})


def rules(tables: Tables) -> Iterator[str]:
    """How to read steps and changes."""
    steps = tables["trend_steps"]
    least = steps["min_effect"].iloc[0] if len(steps) else MIN_EFFECT
    shares = {"min_effect": least, "risk": RISK}
    percents = {name: f"{100 * share:g} %" for name, share in shares.items()}
    for rule in RULES:
        yield rule.format(**percents, most=MOST)
    if steps["clock_share"].gt(0).any():
        yield words.CLOCKS


def marks(tables: Tables) -> Iterator[str]:
    """Remarks about folders: other machines, copies of runs, unknown times, no control runs."""
    folders = tables["trend_folders"].to_dict("records")
    for previous, current in pairwise(folders):
        if previous["machine_number"] != current["machine_number"]:
            yield (
                f"{current['folder_label']} is of another machine than {previous['folder_label']}:"
                f" {previous['hardware']} | {current['hardware']}. They are not compared."
            )
    for row in folders:
        if pd.notna(row["copy_of"]):
            yield f"{row['folder']} holds the same runs as {row['copy_of']}: it is a copy."
    if undated := [str(row["folder"]) for row in folders if pd.isna(row["started"])]:
        yield f"Listed first, because the time of measurement is unknown: {joined(undated)}."
    if tables["trend_control_runs"].empty:
        yield NO_CONTROL


def text_lines(tables: Tables, name: str = "") -> Iterator[str]:
    """Folders, what differs between them, what is sustained, control runs, and changes."""
    if name:
        yield name
    for row in tables["trend_folders"].to_dict("records"):
        yield one_line(f"{row['folder_place']}  {row['folder_label']}  {folder(row)}")
    yield from marks(tables)
    yield from _differing(tables)
    yield "Sustained throughput"
    yield from (f"  {line}" for line in sustained_lines(tables))
    if len(control := tables["trend_control_runs"]):
        yield "Control runs"
        yield from (f"  {step_line(row, tables)}" for row in control.to_dict("records"))
    for title, rows in (("Changes", changes), ("Drift of the machine", drifts)):
        steps = rows(tables["trend_steps"])
        if len(steps):
            yield title
        yield from (f"  {step_line(row, tables)}" for row in steps.to_dict("records"))
    yield summary(tables)


def folder(row: Row) -> str:
    """A folder with its versions, machine, and numbers of points, doubts and control runs."""
    facts = [
        str(row["folder"]),
        *(f"{heading} {row[name]}" for name, heading in LINE_VERSIONS.items() if known(row[name])),
        f"machine {row['machine_number']} ({row['hardware']})",
        amount(row["points_measured"], "point"),
        amount(row["doubts_raised"], "doubt"),
        amount(row["control_runs_made"], "control run"),
    ]
    return ", ".join(facts)


LINE_VERSIONS = {
    "system_version": "system",
    "generator_version": "generator",
    "mqperf_version": "mqperf",
}
"""Columns of versions in the line of a folder -> their names there."""


def step_line(row: Row, tables: Tables) -> str:
    """A step as a line: folders, point, figure, ratio, verdict, cause, other differences."""
    label = labels(tables)
    heading = in_unit(COLUMNS[row["figure"]].heading(), unit_of(row["test_case"]))
    value = f"{reference(row)} -> {words.value(row, 'value_b')}"
    doubted = f" [{row['doubted']}]" if known(row["doubted"]) else ""
    step = f"{label[row['folder_a']]} -> {label[row['folder_b']]}"
    parts = [
        f"{step}: {point_label(row)}{doubted}: {heading} {value}",
        ", ".join(filter(None, [words.ratio(row), words.interval(row)])),
        found_by(row),
    ]
    if known(row.get("control_ratio")):
        parts.append(f"control runs {control(row)}")
    if isinstance(row.get("differs"), str):
        parts.append(f"differs: {row['differs']}")
    return one_line("; ".join(parts))


def reference(row: Row) -> str:
    """The reference value, with its number of folders if these are several."""
    folders = row.get("reference_folders", 1)
    value = words.value(row, "value_a")
    return value if folders == 1 else f"{value} (mean of {folders} folders)"


def known(value: object) -> bool:
    """Whether a value is neither None nor NA."""
    return value is not None and not pd.isna(value)  # type: ignore[call-overload]


def word(finding: str) -> str:
    """The word at the mark of a step in a figure: ``better``, ``worse`` or ``drift``."""
    return "drift" if DRIFT in finding else finding.partition(" ")[0]


def control(row: Row) -> str:
    """The ratio of the control runs over the same step, with its interval."""
    if not known(row["control_ratio"]):
        return MISSING
    ends = f"{row['control_ratio_low']:.3f} to {row['control_ratio_high']:.3f}"
    return f"{row['control_ratio']:.3f}, {ends}"


def labels(tables: Tables) -> Mapping[str, str]:
    """Folder -> its label."""
    folders = tables["trend_folders"]
    return dict(zip(folders["folder"], folders["folder_label"], strict=True))


def sustained_lines(tables: Tables) -> Iterator[str]:
    """A line for each test case on a layout: the sustained throughput, folder after folder."""
    for _, rows in tables["trend_sustained"].groupby(list(SWEEP), sort=False, dropna=False):
        values = list(_rates(rows))
        values = values if len(values) <= MOST_IN_LINE else ["...", *values[-MOST_IN_LINE:]]
        last = rows.iloc[-1].to_dict()
        rates = f"{' -> '.join(values)} {unit_of(last['test_case'])}/sec"
        yield one_line(f"{words.sweep_label(last)}: {rates}{latest(last)}")
    yield from moves(tables)


def latest(row: Row) -> str:
    """The ratio of the last value to the one before, and the verdict, which is on another ratio."""
    if not known(row["ratio"]):
        return ""
    return f"; last / the one before {row['ratio']:.3f}; step from its reference: {step(row)}"


def step(row: Row) -> str:
    """The verdict on the sustained throughput, or the detectable change if there is none."""
    verdict = str(row["step"])
    power = f" ({words.detectable(row)} would show)" if known(row["detectable"]) else ""
    return verdict + power if verdict == CANNOT_TELL else verdict


def moves(tables: Tables) -> Iterator[str]:
    """A sentence for each folder whose sustained point of a sweep is not that of the one before."""
    rows = tables["trend_sustained"]
    for row in rows[rows["moved_from"].notna()].to_dict("records"):
        sentence = (
            f"{words.sweep_label(row)}: in {row['folder_label']} the sustained point moved from"
            f" {row['moved_from']} to {row['sustained_at']}, and their rates are not compared."
        )
        yield one_line(sentence)


def _rates(rows: pd.DataFrame) -> Iterator[str]:
    """The sustained throughput of each folder, with the point where that is not always the same."""
    moved = len(rows["sustained_at"].dropna().unique()) > 1
    for row in rows.to_dict("records"):
        rate = cell("throughput_msg_s", row["sustained_throughput_msg_s"])
        yield f"{rate} ({row['sustained_at']})" if moved and known(row["sustained_at"]) else rate


def _differing(tables: Tables) -> Iterator[str]:
    rows = tables["trend_differences"]
    label = labels(tables)
    for (_, a, b), differing in rows.groupby(["folder_place", "folder_a", "folder_b"], sort=False):
        yield one_line(f"Between {label[str(a)]} and {label[str(b)]} differ")
        for row in differing.to_dict("records"):
            yield "  " + one_line(f"{row['what']}: {row['value_in_a']} | {row['value_in_b']}")
