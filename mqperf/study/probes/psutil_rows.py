"""Rows of the tables ``cpu``, ``network`` and ``memory`` from samples of the psutil probe."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from statistics import median

import pandas as pd

from mqperf.record.logs.psutil_log import WHOLE_HOST, Sample, Usage, reading_of

TOLERANCE_S = 0.5
"""Samples up to this far outside the window count as its ends."""


def cpu(
    log: Sequence[Sample],
    kinds: Mapping[str, str],
    window: tuple[float, float],
    host: str = "local",
    ended: Collection[str] = (),
) -> pd.DataFrame:
    """Rows of the ``cpu`` table: every process in every second of the window, and over all of it.

    ``kinds`` maps the label of each process to its kind; ``window`` is in epoch seconds.  A second
    without a sample gives no row; a process that had died gives none until it was restarted.  For
    processes in ``ended``, which the plan stopped, the window row sums all their restarts.
    """
    samples = _in_window(log, window)
    speed, rows = _core_speed(samples), []
    for label in [*kinds, WHOLE_HOST]:
        series = [(s.epoch - window[0], reading_of(s, label)) for s in samples]
        kind = kinds.get(label, "host")
        pairs = [(a, b, "interval") for a, b in pairwise(series)]
        if len(series) > 1 and all(reading for _, reading in series):
            pairs.append((series[0], series[-1], "window"))
        elif len(series) > 1 and series[-1][1] and label in ended:
            restarted = _continued_counters(samples, label)
            pairs.append(((series[0][0], restarted[0]), (series[-1][0], restarted[-1]), "window"))
        rows += [
            {
                "process": label,
                "kind": kind,
                "host": host,
                "scope": scope,
                **_usage((begin, first), (end, last)),
                "core_speed": speed if (label, scope) == (WHOLE_HOST, "window") else None,
            }
            for (begin, first), (end, last), scope in pairs
            if first is not None and last is not None
        ]
    return pd.DataFrame(rows)


def network(
    log: Sequence[Sample], window: tuple[float, float], host: str = "local"
) -> pd.DataFrame:
    """Rows of the ``network`` table: every interface with traffic in the window.

    If none had any, which cannot happen on a host of a run, every interface has a row.
    No rows for a log that ends before the window or that has no network counters.
    """
    samples = [sample.network for sample in _in_window(log, window) if sample.network is not None]
    if len(samples) < 2:
        return pd.DataFrame()
    first, last = samples[0], samples[-1]
    seconds = last.at - first.at
    retransmitted = _retransmitted_share(first.segments, last.segments)
    rows = []
    for interface, last_bytes in last.bytes.items():
        first_bytes = first.bytes.get(interface, last_bytes)
        sent, received = (b - a for a, b in zip(first_bytes, last_bytes, strict=True))
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
    """The row of the ``memory`` table: memory used and swapped by the host in the window.

    No row for a log that ends before the window or that has no memory figures.
    """
    samples = [sample.memory for sample in _in_window(log, window) if sample.memory is not None]
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


def _in_window(log: Sequence[Sample], window: tuple[float, float]) -> list[Sample]:
    """The samples of the window, both ends included."""
    start, end = window[0] - TOLERANCE_S, window[1] + TOLERANCE_S
    return [sample for sample in log if start <= sample.epoch <= end]


def _core_speed(samples: Sequence[Sample]) -> float | None:
    """The median over the samples of the work done in a CPU second; None where not recorded."""
    times_s = [sample.yardstick_s for sample in samples if sample.yardstick_s is not None]
    return 1 / median(times_s) if times_s else None


def _retransmitted_share(first: Sequence[int] | None, last: Sequence[int] | None) -> float | None:
    """Share of retransmitted segments; without spurious retransmissions, if those are counted."""
    if first is None or last is None or last[0] == first[0]:
        return None
    sent, retransmitted, *spurious = (b - a for a, b in zip(first, last, strict=True))
    return max(0, retransmitted - sum(spurious)) / sent


def _continued_counters(log: Sequence[Sample], label: str) -> list[Usage]:
    """Readings of a restarted process, as if its counters had continued.

    The counters begin at zero with each start.
    """
    readings: list[Usage] = []
    previous_starts = cumulative = (0.0, 0.0)
    rss: int | None
    for sample in log:
        if (reading := reading_of(sample, label)) is None:
            previous_starts, rss = cumulative, None
        else:
            _, total, system, rss, _ = reading
            cumulative = previous_starts[0] + total, previous_starts[1] + system
        readings.append((sample.monotonic, *cumulative, rss, None))
    return readings


def _usage(
    first: tuple[float, Usage],
    last: tuple[float, Usage],
) -> dict[str, float | int | None]:
    start_s, (at, total, system, _, stolen) = first
    end_s, (until, total_end, system_end, rss, stolen_end) = last
    stolen_s = None if stolen is None or stolen_end is None else stolen_end - stolen
    return {
        "start_s": start_s,
        "end_s": end_s,
        "total_cores": (total_end - total) / (until - at),
        "sys_cores": (system_end - system) / (until - at),
        "stolen_cores": None if stolen_s is None else stolen_s / (until - at),
        "rss_bytes": rss,
    }
