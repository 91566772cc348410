"""Latency figures of a run, and confidence intervals for them and for throughput.

The intervals are the columns ``*_within_low`` and ``*_within_high``.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from mqperf.plan import PERCENTILES, SHARES
from mqperf.record.streams.stream import Latencies, Stream, Window, seconds
from mqperf.record.streams.telling import told_s
from mqperf.study.series.intervals import SHORTEST_S, Interval, level_interval, ratio_interval
from mqperf.study.series.warmup import warmup_s

Row = dict[str, float]


def warmup_found_s(finished: Stream, steady: Window | None) -> int | None:
    """Seconds from the start of ``steady`` until throughput was steady; None where unknown."""
    return None if steady is None else warmup_s(finished.per_second(steady).astype(float))


def throughput_interval(counts: np.ndarray) -> Row:
    """The interval of the throughput, from the messages finished in each second of the window."""
    interval = ratio_interval(counts.astype(float), np.ones(len(counts)))
    return _columns("throughput_msg_s", interval)


def quantiles(label: str, latencies: Latencies, names: Iterable[str]) -> Row:
    """The columns ``label_name_s`` of these percentiles; NaN where there are too few messages."""
    percentiles = [*names]
    values = told_s(latencies, [SHARES[name] for name in percentiles])
    return {f"{label}_{name}_s": value for name, value in zip(percentiles, values, strict=True)}


def latency_figures(latencies: Latencies) -> Row:
    """Mean, percentiles and maximum by column; there must be at least one message.

    A percentile for which there are too few messages is NaN.
    """
    mean_and_max = {"latency_mean_s": latencies.mean_s, "latency_max_s": latencies.max_s}
    return quantiles("latency", latencies, SHARES) | mean_and_max


def latency_intervals(
    latencies: Latencies, window: Window, percentiles: Mapping[str, float]
) -> Row:
    """The intervals of the mean latency and of the percentiles, by column.

    ``latencies`` are of the messages started in the window, ``percentiles`` the estimates; one
    that is NaN has no interval.
    """
    if seconds(window) < SHORTEST_S:
        return {}
    counts, totals = latencies.per_second()
    row = _columns("latency_mean_s", ratio_interval(totals, counts))
    for column, estimate in percentiles.items():
        if np.isnan(estimate):
            continue
        below = counts - latencies.above(estimate)
        levels = level_interval(PERCENTILES[column], below, counts)
        if levels is not None:
            low, high = latencies.quantiles_s(levels)
            row |= _columns(column, (float(low), float(high)))
    return row


def _columns(column: str, interval: Interval | None) -> Row:
    if interval is None:
        return {}
    return dict(zip((f"{column}_within_low", f"{column}_within_high"), interval, strict=True))
