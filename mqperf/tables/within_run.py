"""How well a run knows its own numbers: columns ``*_within_low`` and ``*_within_high``."""

from collections.abc import Mapping

import numpy as np

from mqperf.series.intervals import SHORTEST_S, Interval, level_interval, ratio_interval
from mqperf.series.warmup import warmup_s

Window = tuple[float, float]
"""Start and end in epoch seconds, whole seconds apart."""

PERCENTILES = {
    "latency_p50_s": 0.5,
    "latency_p90_s": 0.9,
    "latency_p95_s": 0.95,
    "latency_p99_s": 0.99,
    "latency_p999_s": 0.999,
}

Row = dict[str, float]


def per_second(instants: np.ndarray, window: Window) -> np.ndarray:
    """How many instants fall into each whole second of the window."""
    begin, end = window
    seconds = round(end - begin)
    second = np.floor(instants - begin)
    inside = second[(second >= 0) & (second < seconds)].astype(np.int64)
    return np.bincount(inside, minlength=seconds)


def warmup_found_s(finished: np.ndarray, load: Window) -> int | None:
    """Seconds of the load until throughput was steady; ``load`` ends with the window."""
    return warmup_s(per_second(finished[:, 1], load).astype(float))


def throughput_interval(counts: np.ndarray) -> Row:
    """The interval of the throughput, of the messages finished in each second of the window."""
    interval = ratio_interval(counts.astype(float), np.ones(len(counts)))
    return _columns("throughput_msg_s", interval)


def latency_intervals(
    finished: np.ndarray, window: Window, percentiles: Mapping[str, float]
) -> Row:
    """The intervals of the mean latency and of the percentiles, by their columns.

    ``finished`` has started and finished of the messages which were started in the window,
    ``percentiles`` the estimates.
    """
    seconds = round(window[1] - window[0])
    if seconds < SHORTEST_S:
        return {}
    second = (finished[:, 0] - window[0]).astype(np.int64)
    latency = finished[:, 1] - finished[:, 0]
    counts = np.bincount(second, minlength=seconds).astype(float)
    totals = np.bincount(second, weights=latency, minlength=seconds)
    row = _columns("latency_mean_s", ratio_interval(totals.astype(float), counts))
    for column, estimate in percentiles.items():
        above = np.bincount(second[latency > estimate], minlength=seconds)
        levels = level_interval(PERCENTILES[column], counts - above, counts)
        if levels is not None:
            low, high = np.quantile(latency, levels)
            row |= _columns(column, (float(low), float(high)))
    return row


def _columns(column: str, interval: Interval | None) -> Row:
    if interval is None:
        return {}
    return dict(zip((f"{column}_within_low", f"{column}_within_high"), interval, strict=True))
