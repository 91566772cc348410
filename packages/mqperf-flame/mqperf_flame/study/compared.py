"""The record held against psutil: samples x period is the CPU that the kernel counted."""

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
"""Share by which samples may differ from what was counted, beside chance: while a process begins or
ends to run, interrupts are off, and a sample that is due is that of who runs next."""

DEVIATIONS = 3
"""Of the number of samples, whose variance is what is expected of it (S. D. Poisson, 1837)."""

TICK_S = 0.02
"""By so much what psutil counts of user and system may be off."""


def disagreements(run: Whole) -> Iterator[str]:
    """Processes that used other than they were seen to use, and a record of another load."""
    logs = psutil_tables.logs(run)
    for folder, record in records(run).items():
        name = (folder / FOLDED).relative_to(run.run.path)
        if others := {each.process for each in record.seen} - {*run.facts.kinds}:
            yield f"{name}: it has {', '.join(sorted(others))}, and the run has not"
        lasted = run.load[1] - run.load[0]
        if record.about.seconds + 1 < lasted:
            yield f"{name}: it has {record.about.seconds} s of a load of {lasted:.0f} s"
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
    """The contradiction between both about a process; None where both can be true."""
    counted = psutil_tables.counted(samples, label, -run.load[0])
    if len(counted) < 2:
        return None
    (first, before), (last, after) = counted[0], counted[-1]
    begin, end = round(first), round(last)
    seen = record.within(begin, end).get(label, Counter()).total()
    period_s = record.about.period_ns * NS
    used_s, seen_s = after - before, seen * period_s
    late_s = abs(first - begin) + abs(last - end)
    slack_s = DIFFERS * used_s + late_s * psutil_tables.fastest(counted) + TICK_S
    slack_s += DEVIATIONS * sqrt(used_s / period_s + 1) * period_s
    if abs(used_s - seen_s) <= slack_s:
        return None
    return (
        f"{label} was seen for {seen_s:.2f} s of CPU in {end - begin} s of the load, and used"
        f" {used_s:.2f} s by psutil"
    )


READER = ProbeReader("flame", disagreements=disagreements)
