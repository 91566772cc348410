"""Compares the record with psutil: samples x period must equal the CPU time the kernel counted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt

from mqperf.record import Whole
from mqperf.record.logs import psutil_log
from mqperf.study.probes import ProbeReader, psutil_tables
from mqperf_flame.onhost.recorder import FOLDED, WATCHED
from mqperf_flame.record.recorded import Recorded, records
from mqperf_flame.study.profiles import NS

DIFFERS = 0.25
"""Share by which sampled and counted CPU may differ beside chance.  During a context switch
interrupts are off, and a sample that is due then is attributed to the next process."""

DEVIATIONS = 3
"""Allowed deviations of the count of samples, whose variance is its mean (S. D. Poisson, 1837)."""

TICK_S = 0.02
"""By so much psutil's user and system times may be off together."""


def disagreements(run: Whole) -> Iterator[str]:
    """Yield processes whose sampled and counted CPU differ, and records of another load."""
    logs = psutil_tables.logs(run)
    for folder, record in records(run).items():
        name = (folder / FOLDED).relative_to(run.run.path)
        if unknown := {each.process for each in record.seen} - {*run.facts.kinds}:
            yield f"{name}: it has {', '.join(sorted(unknown))}, and the run has not"
        load_s = run.load[1] - run.load[0]
        if record.about.seconds + 1 < load_s:
            yield f"{name}: it has {record.about.seconds} s of a load of {load_s:.0f} s"
            continue
        samples = logs.get(folder / psutil_log.LOG, ())
        acted_on = {action.target for action in run.case.actions}
        for label, kind in run.facts.kinds.items():
            if kind in WATCHED and label not in acted_on:
                reason = _contradiction(run, record, samples, label)
                yield from [f"{name}: {reason}"] if reason else []


def _contradiction(
    run: Whole, record: Recorded, samples: Sequence[psutil_log.Sample], label: str
) -> str | None:
    """Return the contradiction between record and psutil about a process, or None."""
    counted = psutil_tables.counted(samples, label, -run.load[0])
    if len(counted) < 2:
        return None
    (first, before), (last, after) = counted[0], counted[-1]
    begin, end = round(first), round(last)
    count = record.within(begin, end).get(label, Counter()).total()
    period_s = record.about.period_ns * NS
    used_s, seen_s = after - before, count * period_s
    rounded_s = abs(first - begin) + abs(last - end)
    slack_s = DIFFERS * used_s + rounded_s * psutil_tables.fastest(counted) + TICK_S
    slack_s += DEVIATIONS * sqrt(used_s / period_s + 1) * period_s
    if abs(used_s - seen_s) <= slack_s:
        return None
    return (
        f"{label} was seen for {seen_s:.2f} s of CPU in {end - begin} s of the load, and used"
        f" {used_s:.2f} s by psutil"
    )


READER = ProbeReader("flame", disagreements=disagreements)
