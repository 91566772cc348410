"""The table ``rate_cycles``: figures of each step of a rate in cycles.

The backlog is what was due and is not finished, at the end of every second.  That of a peak, the
highest step of a cycle, is drained by the criterion of the table ``backlog``.  As the load begins
without a backlog, its least latency is the transit time of a message.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mqperf.plan.columns import Table, number, seconds
from mqperf.plan.pace import CYCLE
from mqperf.study.tables.rate_steps import deliveries, of_step
from mqperf_numbered.onhost.cycles import CycledRate
from mqperf_numbered.plan.cycles import steps_of
from mqperf_numbered.study.backlog import OF_THREAD, UNDER_WAY_S, Backlog, Row

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading


def rows(reading: "Reading") -> Iterator[Row]:
    """Yield a row for each step with a whole second in the window; none without cycles."""
    if (cycle := reading.run.case.parameters.get(CYCLE)) is None:
        return
    curve = CycledRate(steps_of(str(cycle)))
    backlog, peak = _backlog(reading, curve), curve.rates.max()
    steps = [*curve.steps(len(backlog.count) - 1)]
    peaks = [int(step.begin_s) for step in steps if step.rate == peak]
    for step in steps:
        if row := of_step(reading, curve, step.begin_s, step.end_s):
            row |= {"cycle": step.cycle, "step_rate_msg_s": step.rate}
            if step.rate == peak:
                until = next((begin for begin in peaks if begin > step.begin_s), None)
                row["drained_s"] = _drained_s(backlog, int(step.end_s), until)
            yield row


def _drained_s(backlog: Backlog, after: int, until: int | None) -> float | None:
    """Return the time from ``after`` to the drain; None if not by ``until``, or the load's end."""
    span = slice(None if until is None else until + 1)
    return Backlog(backlog.count[span], backlog.level[span]).drained_s(after)


def _backlog(reading: "Reading", curve: CycledRate) -> Backlog:
    load, copies = reading.run.load, deliveries(reading)
    finished = np.append(0.0, np.cumsum(reading.done.per_second(load)))
    due = np.array([curve.due(second) for second in range(len(finished))]) * copies
    summary = reading.done.summary()
    transit_s = max(0.0, summary.min_s) if summary else 0.0
    level = np.append(0.0, np.diff(due)) * (UNDER_WAY_S + transit_s)
    return Backlog(due - finished, level + OF_THREAD * reading.run.case.threads * copies)


TABLE = Table(
    "rate_cycles",
    "a step of an offered rate that comes in cycles",
    (
        number("cycle", "Which cycle of the load, from 1.", "cycle"),
        *("step_rate_msg_s", "from_s", "until_s", "throughput_msg_s", "unfinished"),
        seconds(
            "drained_s",
            "Of the highest step of a cycle: from its end until no more waits than is always under"
            " way; empty if the next one, or the end of the load, came before that.",
            "backlog gone after",
        ),
        *("latency_mean_s", "latency_p99_s"),
    ),
    rows=rows,
)
