"""The atop probe in tables: a second record of CPU, compared with that of psutil.

The psutil probe observes the same processes, so the tables of a run do not have what atop recorded:
it is used for comparison only, and ``by_probe`` returns it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from mqperf.record import Whole, as_whole, runs
from mqperf.record.logs import psutil_log
from mqperf.study import tables
from mqperf.study.probes import psutil_tables
from mqperf.study.probes.reader import ProbeReader
from mqperf.study.tables import conform, empty
from mqperf.study.tables.of_run import keys
from mqperf_atop.record.recorded import LOG, TEXT, recorded
from mqperf_atop.record.text import MACHINE, Interval, Named, rows
from mqperf_atop.study import unwatched

NEAR_S = 0.2
"""A psutil sample so near to a whole second is taken as one at that second."""

PROCESS_COUNTERS = 2
"""Counters of a process: user and system."""

TICK_S = 0.01
MISSING_S = 2
"""A complete record may begin so long after, or end so long before, the load by its stamps."""

AT_LEAST_S = 2
"""Shorter records are not compared: they consist of their uncertain ends only."""


def by_probe(path: Path) -> pd.DataFrame:
    """Return the CPU of every process over the window, in cores, as psutil and atop recorded it.

    There is a row per run, host and process of a runs folder, and a column per probe: ``psutil``,
    the source of tables and pages, and ``atop``.  Raise ``MqperfError`` for a run that cannot be
    read.
    """
    parts = {"psutil": tables.read(path)["cpu"], "atop": by_atop(path)}
    rows = pd.concat([part.assign(probe=name) for name, part in parts.items()])
    window = rows[rows["scope"] == "window"]
    return window.pivot_table("total_cores", ["run", "host", "process"], "probe", sort=False)


def by_atop(path: Path) -> pd.DataFrame:
    """Return the table ``cpu`` of a runs folder by atop; raise what ``by_probe`` raises."""
    frames = [empty("cpu")]
    for run in runs(path):
        if run.status == "done":
            whole = as_whole(run, run.facts())
            frames.append(of_run(whole).assign(**keys(run.id, whole.case)))
    return conform("cpu", pd.concat(frames))


def of_run(run: Whole) -> pd.DataFrame:
    """Return the rows of a run in the table ``cpu`` by atop; raise what ``recorded`` raises."""
    frames = []
    for folder in _folders(run):
        record, kinds, host = recorded(folder), run.facts.kinds, folder.name
        labels = [label for label in kinds if label in record.chosen.processes]
        names = {label: Named(label, kinds[label], host) for label in labels}
        title = f"host {host}" if len(run.facts.hosts) > 1 else "host"
        names[MACHINE] = Named(title, "host", host)
        frames.append(rows(record.intervals, names, run.window, run.clock(host).offset_s))
    return pd.concat(frames or [pd.DataFrame()])


def disagreements(run: Whole) -> Iterator[str]:
    """Yield processes whose CPU differs between psutil and atop by more than their accuracy.

    Whole machines are not compared: for those atop has samples at the kernel's ticks, and psutil
    measured times.  Raise what ``recorded`` raises.
    """
    logs = psutil_tables.logs(run)
    for folder in _folders(run):
        record, host = recorded(folder), folder.name
        name = (folder / TEXT).relative_to(run.run.path)
        ahead_s = run.clock(host).offset_s
        begin, end = (instant + ahead_s for instant in run.load)
        stamps = [span.end for span in record.intervals] or [0]
        if stamps[0] > begin + MISSING_S or stamps[-1] < end - MISSING_S:
            yield f"{name}: its samples are not of the whole load"
        samples = logs.get(folder / psutil_log.LOG, ())
        for label, pids in record.chosen.processes.items():
            counted = psutil_tables.counted(samples, label, ahead_s)
            rounding_s = len(pids) * PROCESS_COUNTERS * TICK_S
            if reason := _contradiction(label, record.intervals, counted, rounding_s):
                yield f"{name}: {reason}"


def _folders(run: Whole) -> list[Path]:
    """Return the folders of the hosts on which the probe was started."""
    return [log.parent for log in sorted((run.run.path / "probes").glob(f"*/{LOG}"))]


def _contradiction(
    label: str, intervals: Sequence[Interval], counted: psutil_tables.Readings, rounding_s: float
) -> str | None:
    """Return the contradiction between two records of a process; None where both can be true.

    atop's sample with the stamp ``s`` was taken at some time from ``s`` to ``s + 1``; as counters
    only grow, those of psutil bound from below and above what atop may have counted.
    """
    if len(counted) < AT_LEAST_S:
        return None
    first, last = counted[0][0], counted[-1][0]
    both = [
        span for span in intervals if span.start + NEAR_S >= first and span.end + 1 - NEAR_S <= last
    ]
    if sum(span.seconds for span in both) < AT_LEAST_S:
        return None
    begin, end = both[0].start, both[-1].end
    by_atop = sum(span.used[label][0] for span in both)
    slack_s = rounding_s + 2 * NEAR_S * psutil_tables.fastest(counted)
    least = max(0.0, _until(counted, end) - _after(counted, begin + 1) - slack_s)
    most = _after(counted, end + 1) - _until(counted, begin) + slack_s
    if least <= by_atop <= most:
        return None
    return (
        f"{label} used {by_atop:.2f} s of CPU in {end - begin} s by atop, {least:.2f} to {most:.2f}"
        " s by psutil"
    )


def _until(counted: psutil_tables.Readings, instant: float) -> float:
    """Return the seconds of CPU at the last reading that is not after the instant."""
    return max(used_s for at, used_s in counted if at <= instant + NEAR_S)


def _after(counted: psutil_tables.Readings, instant: float) -> float:
    """Return the seconds of CPU at the first reading that is not before the instant."""
    return min(used_s for at, used_s in counted if at >= instant - NEAR_S)


READER = ProbeReader(
    "atop",
    read=unwatched.tables,
    events=unwatched.unread,
    disagreements=disagreements,
)
