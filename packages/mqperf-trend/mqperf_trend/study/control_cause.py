"""The cause of a step, by control runs: a change of the machine, or of what was measured.

Control runs are one point of a system, measured at start, middle and end of each folder.  They use
the system, too.  So a step that they show as well is caused by the machine only if all versions
stayed the same.  If versions changed, control runs of another system with unchanged versions are
used, if there are any; otherwise the cause is unknown.

Control runs show a step when their own figure changed in the same direction by the minimum relevant
difference or more, with a 95 % interval on that side of 1; and when the rest of the step, its ratio
over theirs, is less than that difference, or has an interval that includes 1.  That interval is
combined from both, as those from within runs are (Zou and Donner, 2008).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from mqperf.plan.columns import VERSIONS
from mqperf.study.stats.compare import CANNOT_TELL
from mqperf.study.tables import Tables, all_attempts

CHANGE, DRIFT = "change", "machine drift"
UNTOLD, UNWATCHED = "versions or machine", "not watched"
"""Causes of a step with a verdict; the last one is without control runs in both folders."""

RATIOS = ("control_ratio", "control_ratio_low", "control_ratio_high")
NEAR_END = {1: "ratio_low", -1: "ratio_high"}
"""Direction of a step -> the end of its interval that is nearer to 1."""

Row = Mapping[Any, Any]
Columns = dict[str, Any]


def with_causes(
    steps: pd.DataFrame, control: pd.DataFrame, tables: Mapping[str, Tables], min_effect: float
) -> pd.DataFrame:
    """The steps with the ratios of control runs, and the cause of steps with a verdict.

    ``tables`` are those of each folder, by its name.
    """
    unchanged = _unchanged(tables)
    by_step: dict[tuple[object, ...], list[Row]] = {}
    for row in control.dropna(subset=["ratio_low"]).to_dict("records"):
        by_step.setdefault((row["folder_a"], row["folder_b"], row["figure"]), []).append(row)
    causes = []
    for step in steps.to_dict("records"):
        rows = by_step.get((step["folder_a"], step["folder_b"], step["figure"]), [])
        stayed = [unchanged(step["folder_a"], step["folder_b"], row["system"]) for row in rows]
        causes.append(_columns(step, rows, stayed, min_effect))
    columns = [*RATIOS, "beyond_control", "cause"]
    return steps.assign(**pd.DataFrame(causes, index=steps.index, columns=columns))


def found_by(step: Row) -> str:
    """The verdict of a step with its cause, where that is not a change: ``worse (not watched)``."""
    cause = step.get("cause")
    named = isinstance(cause, str) and cause != CHANGE
    return f"{step['verdict']} ({cause})" if named else str(step["verdict"])


def _unchanged(tables: Mapping[str, Tables]) -> Callable[[str, str, str], bool]:
    """Return a function that tells whether two folders have the same versions of a system."""

    @cache
    def versions(folder: str, system: str) -> tuple[frozenset[str], ...]:
        attempts = all_attempts(tables[folder])
        of_system = attempts[attempts["system"] == system]
        return tuple(frozenset(of_system[name].dropna()) for name in VERSIONS)

    return lambda a, b, system: versions(a, system) == versions(b, system)


def _columns(step: Row, rows: Sequence[Row], stayed: Sequence[bool], min_effect: float) -> Columns:
    """The columns of a step, by its first control runs: unchanged versions, then its own system."""
    has_verdict = step["verdict"] != CANNOT_TELL
    ranked = sorted(
        zip(rows, stayed, strict=True),
        key=lambda pair: (not pair[1], pair[0]["system"] != step["system"]),
    )
    ranked = [(row, same) for row, same in ranked if same or row["system"] == step["system"]]
    if not ranked:
        return {"cause": UNWATCHED if has_verdict else None}
    row, same = ranked[0]
    columns: Columns = {name: row[name.removeprefix("control_")] for name in RATIOS}
    columns["beyond_control"] = step["ratio"] / row["ratio"]
    if has_verdict:
        shown = _shown_by_control(step, row, np.log1p(min_effect))
        columns["cause"] = (DRIFT if same else UNTOLD) if shown else CHANGE
    return columns


def _shown_by_control(step: Row, control: Row, least: float) -> bool:
    """Whether control runs show the step as well."""
    sign = 1 if step["ratio"] > 1 else -1
    moved, near = (sign * np.log(control[column]) for column in ("ratio", NEAR_END[sign]))
    if moved < least or near <= 0:
        return False
    rest = sign * np.log(step["ratio"]) - moved
    half_widths = [np.log(row["ratio_high"] / row["ratio_low"]) / 2 for row in (step, control)]
    return bool(rest < least or rest <= np.hypot(*half_widths))
