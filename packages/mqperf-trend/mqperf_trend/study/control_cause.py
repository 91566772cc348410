"""What control runs say of a step: whether the machine changed, or what was measured.

Control runs are one point of a system, measured at start, middle and end of each folder.  They use
the system, too.  So a step that they show as well is the machine's only where all versions stayed
the same; where these changed, control runs of another system that stayed as it was are asked, if
there are any, and else it cannot be told.

Control runs show a step when their own figure moved the same way by the minimum relevant difference
or more, and its 95 % interval is on that side of 1; and when what is left of the step beside theirs
is less than that difference, or has an interval that 1 is in.  That interval is made of both, as
those from within runs are (Zou and Donner, 2008).
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
"""What a step with a verdict is; the last is one without control runs in both folders."""

RATIOS = ("control_ratio", "control_ratio_low", "control_ratio_high")
NEAR = {1: "ratio_low", -1: "ratio_high"}
"""The end of an interval that is next to 1, by the way of a step."""

Row = Mapping[Any, Any]
Columns = dict[str, Any]


def with_causes(
    steps: pd.DataFrame, control: pd.DataFrame, tables: Mapping[str, Tables], min_effect: float
) -> pd.DataFrame:
    """The steps with what control runs did meanwhile, and the cause of those with a verdict.

    ``tables`` are those of each folder by its name.
    """
    unchanged = _unchanged(tables)
    beside: dict[tuple[object, ...], list[Row]] = {}
    for row in control.dropna(subset=["ratio_low"]).to_dict("records"):
        beside.setdefault((row["folder_a"], row["folder_b"], row["figure"]), []).append(row)
    causes = []
    for step in steps.to_dict("records"):
        rows = beside.get((step["folder_a"], step["folder_b"], step["figure"]), [])
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
    """Says of two folders whether all versions of a system stayed what they were."""

    @cache
    def versions(folder: str, system: str) -> tuple[frozenset[str], ...]:
        attempts = all_attempts(tables[folder])
        of_system = attempts[attempts["system"] == system]
        return tuple(frozenset(of_system[name].dropna()) for name in VERSIONS)

    return lambda a, b, system: versions(a, system) == versions(b, system)


def _columns(step: Row, rows: Sequence[Row], stayed: Sequence[bool], min_effect: float) -> Columns:
    """The columns of a step; control runs of its own system come first, where that stayed."""
    verdict = step["verdict"] != CANNOT_TELL
    ranked = sorted(
        zip(rows, stayed, strict=True),
        key=lambda pair: (not pair[1], pair[0]["system"] != step["system"]),
    )
    ranked = [(row, same) for row, same in ranked if same or row["system"] == step["system"]]
    if not ranked:
        return {"cause": UNWATCHED if verdict else None}
    row, same = ranked[0]
    columns: Columns = {name: row[name.removeprefix("control_")] for name in RATIOS}
    columns["beyond_control"] = step["ratio"] / row["ratio"]
    if verdict:
        shown = _shown(step, row, np.log1p(min_effect))
        columns["cause"] = (DRIFT if same else UNTOLD) if shown else CHANGE
    return columns


def _shown(step: Row, control: Row, least: float) -> bool:
    """Whether control runs show the step as well."""
    way = 1 if step["ratio"] > 1 else -1
    moved, near = (way * np.log(control[column]) for column in ("ratio", NEAR[way]))
    if moved < least or near <= 0:
        return False
    left = way * np.log(step["ratio"]) - moved
    halves = [np.log(row["ratio_high"] / row["ratio_low"]) / 2 for row in (step, control)]
    return bool(left < least or left <= np.hypot(*halves))
