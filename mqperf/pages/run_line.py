"""The result of one run in a line of text."""

from collections.abc import Mapping
from math import nan

import pandas as pd

from mqperf.pages.report.rst import MISSING
from mqperf.pages.report.words import cell
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import in_unit, unit_of
from mqperf.record import Run
from mqperf.study import tables
from mqperf.study.stats.bottleneck import bottlenecks
from mqperf.study.stats.checks import doubts
from mqperf.study.stats.offered_rates import saturation_rates
from mqperf.study.stats.survivors import survivors
from mqperf.study.tables import Tables


def of_run(run: Run) -> str:
    """Return throughput and 99th percentile of one run, as in the tables, and its doubts.

    Doubts that depend on other runs are not included.
    """
    frames = tables.of_runs([run])
    kinds = list(doubts(frames)["kind"].unique())
    doubted = f"doubts: {', '.join(kinds)}" if kinds else "no doubts"
    figures = {**_first(frames["messages"]), **_first(frames["latency"])}
    result = _steps(frames) or _means(figures, unit_of(figures.get("test_case")))
    remarks = "".join(f"; {text}" for text in survivors(frames).values())
    return f"{result}, {doubted}{remarks}{_early(frames)}"


def _steps(frames: Tables) -> str:
    """Return the rates that were kept, if rates change in steps: means would mix them."""
    if frames["rate_steps"].empty:
        return ""
    rows = saturation_rates(frames, bottlenecks(frames)).to_dict("records")
    return "; ".join(
        in_unit(row["text"], unit_of(row["test_case"])).removesuffix(".") for row in rows
    )


def _means(figures: Mapping[str, object], unit: str) -> str:
    rate, p99_s = (figures.get(column, nan) for column in ("throughput_msg_s", "latency_p99_s"))
    p99 = cell("latency_p99_s", p99_s)
    return (
        f"{cell('throughput_msg_s', rate)} {in_unit(COLUMNS['throughput_msg_s'].shown, unit)},"
        f" p99 {p99}{'' if p99 == MISSING else ' ms'}"
    )


def _early(frames: Tables) -> str:
    """Return why a run ended early, if it did, and the length of its window."""
    runs = frames["runs"].dropna(subset=["condition_failed"])
    return "".join(
        f"; condition failed, window of {window:g} s: {why}"
        for why, window in zip(runs["condition_failed"], runs["window_s"], strict=True)
    )


def of_run_if_sound(run: Run) -> str:
    """Return ``of_run``, or why the figures of the recorded run cannot be read."""
    try:
        return of_run(run)
    except Exception as error:  # noqa: BLE001 (whatever it is, the sweep goes on)
        return f"its figures cannot be read: {error}"


def figures_of(run: Run) -> dict[str, object]:
    """Return its rows of ``messages`` and ``latency``, by column; empty if it cannot be read."""
    try:
        frames = tables.of_runs([run])
    except Exception:  # noqa: BLE001 (``of_run_if_sound`` reports it)
        return {}
    return {**_first(frames["messages"]), **_first(frames["latency"])}


def _first(frame: pd.DataFrame) -> dict[str, object]:
    return {} if frame.empty else {str(key): value for key, value in frame.iloc[0].items()}
