"""How often the intervals from within a run contain the truth."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from simulations.invented import LATENCIES, Array, Random, alike
from simulations.share import intervals, table

from mqperf.plan import PERCENTILES
from mqperf.record.streams.stream import Instants
from mqperf.study.tables.within_run import latency_intervals, throughput_interval

WINDOWS = (20, 60, 100)
SHOWN = ("latency_mean_s", "latency_p50_s", "latency_p90_s", "latency_p95_s", "latency_p99_s")
COLUMNS = ("runs", "with interval", "of these right", "wrong of all")


def throughputs(random: Random, scale: float) -> pd.DataFrame:
    """Throughput of a run whose seconds are alike."""
    runs = round(2000 * scale)
    return table(
        (
            (seconds, correlation, runs, *intervals(_held(seconds, correlation, runs, random)))
            for seconds in (20, 30, 60, 100)
            for correlation in (-0.3, 0.0, 0.3, 0.5, 0.7)
        ),
        "window, s",
        "correlation of seconds",
        *COLUMNS,
    )


def _held(seconds: int, correlation: float, runs: int, random: Random) -> Iterator[bool | None]:
    for counts in 1000 + 50 * alike(seconds, correlation, random, runs):
        yield holds(throughput_interval(counts), "throughput_msg_s", 1000)


def latencies(random: Random, scale: float) -> pd.DataFrame:
    """Mean latency and percentiles of a run: with interval / of these right / wrong of all."""
    runs = round(400 * scale)
    cells = {
        (column.removeprefix("latency_").removesuffix("_s"), seconds, name): cell
        for name in LATENCIES
        for seconds in WINDOWS
        for column, cell in _of_windows(name, seconds, runs, random)
    }
    return table(
        (
            (figure, seconds, *(cells[figure, seconds, name] for name in LATENCIES))
            for figure, seconds in dict.fromkeys(key[:2] for key in cells)
        ),
        "figure",
        "window, s",
        *LATENCIES,
    )


def _of_windows(name: str, seconds: int, runs: int, random: Random) -> Iterator[tuple[str, str]]:
    truth = _truth(name)
    rows = [latency_row(LATENCIES[name](seconds, random), seconds) for _ in range(runs)]
    for column in (*SHOWN, "latency_p999_s"):
        yield column, " / ".join(intervals(holds(row, column, truth[column]) for row in rows))


def _truth(name: str) -> dict[str, float]:
    """Return mean and percentiles of 30,000 s."""
    latency = np.diff(LATENCIES[name](30_000, np.random.default_rng(2))).ravel()
    quantiles = np.quantile(latency, list(PERCENTILES.values()))
    return {**dict(zip(PERCENTILES, quantiles, strict=True)), "latency_mean_s": latency.mean()}


def latency_row(both: Array, seconds: int) -> dict[str, float]:
    """Return the intervals of a run with these messages."""
    values = np.quantile(np.diff(both), list(PERCENTILES.values()))
    window = (0, seconds)
    percentiles = dict(zip(PERCENTILES, values, strict=True))
    return latency_intervals(Instants(both).started_in(window), window, percentiles)


def holds(row: dict[str, float], column: str, truth: float) -> bool | None:
    """Whether the interval of a column contains the truth; None without an interval."""
    if f"{column}_within_low" not in row:
        return None
    return bool(row[f"{column}_within_low"] <= truth <= row[f"{column}_within_high"])
