"""Rows of the tables ``cpu``, ``network`` and ``memory``, by what the psutil probe read."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import pandas as pd

from mqperf.record.logs.psutil_log import WHOLE_HOST, Sample, Usage, reading_of

TOLERANCE_S = 0.5
"""A sample further than this from its second is not taken as an end of the window."""


def cpu(
    log: Sequence[Sample],
    kinds: Mapping[str, str],
    window: tuple[float, float],
    host: str = "local",
    ended: Collection[str] = (),
) -> pd.DataFrame:
    """Rows of the ``cpu`` table: every process in every second of the window, and over all of it.

    ``kinds`` maps the label of each process to its kind; ``window`` is in epoch seconds.  A second
    without a sample gives no row; a process that had died gives none until it was started again.
    One of ``ended``, which the plan had down, used nothing meanwhile: its window has all its lives.
    """
    inside = _inside(log, window)
    rows = []
    for label in [*kinds, WHOLE_HOST]:
        series = [(s.epoch - window[0], reading_of(s, label)) for s in inside]
        kind = kinds.get(label, "host")
        pairs = [(a, b, "interval") for a, b in pairwise(series)]
        if len(series) > 1 and all(reading for _, reading in series):
            pairs.append((series[0], series[-1], "window"))
        elif len(series) > 1 and series[-1][1] and label in ended:
            together = _all_lives(inside, label)
            pairs.append(((series[0][0], together[0]), (series[-1][0], together[-1]), "window"))
        rows += [
            {
                "process": label,
                "kind": kind,
                "host": host,
                "scope": scope,
                **_usage((begin, first), (end, last)),
            }
            for (begin, first), (end, last), scope in pairs
            if first is not None and last is not None
        ]
    return pd.DataFrame(rows)


def network(
    log: Sequence[Sample], window: tuple[float, float], host: str = "local"
) -> pd.DataFrame:
    """Rows of the ``network`` table: every interface that carried anything over the window.

    Where none did, which no host of a run can, every interface has a row.
    No rows for a log which ends before the window or which was written without network counters.
    """
    counters = [sample.network for sample in _inside(log, window) if sample.network is not None]
    if len(counters) < 2:
        return pd.DataFrame()
    first, last = counters[0], counters[-1]
    seconds = last.at - first.at
    retransmitted = _retransmitted_share(first.segments, last.segments)
    rows = []
    for interface, counted in last.bytes.items():
        before = first.bytes.get(interface, counted)
        sent, received = (b - a for a, b in zip(before, counted, strict=True))
        if sent or received or last.bytes == first.bytes:
            rows.append(
                {
                    "host": host,
                    "interface": interface,
                    "sent_bytes_s": sent / seconds,
                    "received_bytes_s": received / seconds,
                    "speed_bytes_s": last.speeds.get(interface),
                    "retransmitted_share": retransmitted,
                }
            )
    return pd.DataFrame(rows)


def memory(log: Sequence[Sample], window: tuple[float, float], host: str = "local") -> pd.DataFrame:
    """The row of the ``memory`` table: what the host used and swapped over the window.

    None for a log which ends before the window or which was written without memory.
    """
    samples = [sample.memory for sample in _inside(log, window) if sample.memory is not None]
    if len(samples) < 2:
        return pd.DataFrame()
    return pd.DataFrame(
        {
            "host": [host],
            "memory_used_bytes": max(sample.total - sample.available for sample in samples),
            "memory_available_bytes": min(sample.available for sample in samples),
            "swapped_in_bytes": samples[-1].swapped_in - samples[0].swapped_in,
            "swapped_out_bytes": samples[-1].swapped_out - samples[0].swapped_out,
        }
    )


def _inside(log: Sequence[Sample], window: tuple[float, float]) -> list[Sample]:
    """The samples of the window, both ends included."""
    start, end = window[0] - TOLERANCE_S, window[1] + TOLERANCE_S
    return [sample for sample in log if start <= sample.epoch <= end]


def _retransmitted_share(first: Sequence[int] | None, last: Sequence[int] | None) -> float | None:
    """Of the segments sent between two readings; without those that had arrived, if they tell."""
    if first is None or last is None or last[0] == first[0]:
        return None
    sent, again, *needless = (b - a for a, b in zip(first, last, strict=True))
    return max(0, again - sum(needless)) / sent


def _all_lives(log: Sequence[Sample], label: str) -> list[Usage]:
    """Readings of a process that was started again, as if its counters had gone on.

    Those of each life begin at zero, when it was started.
    """
    readings: list[Usage] = []
    before = counted = (0.0, 0.0)
    rss: int | None
    for sample in log:
        if (reading := reading_of(sample, label)) is None:
            before, rss = counted, None
        else:
            _, total, system, rss, _ = reading
            counted = before[0] + total, before[1] + system
        readings.append((sample.monotonic, *counted, rss, None))
    return readings


def _usage(
    first: tuple[float, Usage],
    last: tuple[float, Usage],
) -> dict[str, float | int | None]:
    start_s, (at, total, system, _, stolen) = first
    end_s, (until, total_end, system_end, rss, stolen_end) = last
    taken = None if stolen is None or stolen_end is None else stolen_end - stolen
    return {
        "start_s": start_s,
        "end_s": end_s,
        "total_cores": (total_end - total) / (until - at),
        "sys_cores": (system_end - system) / (until - at),
        "stolen_cores": None if taken is None else taken / (until - at),
        "rss_bytes": rss,
    }
