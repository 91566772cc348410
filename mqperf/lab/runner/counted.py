"""Loads of a fixed number of messages: when all are sent, and the resulting window."""

import math
import time
from collections.abc import Mapping
from dataclasses import replace

from mqperf.base.errors import LoadError
from mqperf.hosts import Offset
from mqperf.lab.runner.control import ControlFolders
from mqperf.lab.runner.failing import NOTICE_S
from mqperf.lab.runner.loads import Load
from mqperf.lab.runner.schedule import Schedule
from mqperf.plan import COUNT, Case
from mqperf.record import AllSent


def all_sent(
    load: Load, control: ControlFolders, schedule: Schedule, clocks: Mapping[str, Offset]
) -> AllSent | None:
    """Return when all messages were sent; None before that, and for a load without a count."""
    if load.case.parameters.get(COUNT) is None:
        return None
    instants = control.sent([client.label for client in load.of("client")], clocks)
    if instants is None:
        return None
    first_s, last_s = (round(instant - schedule.start, 6) for instant in instants)
    return AllSent(first_s=first_s, last_s=last_s)


def ended(schedule: Schedule) -> Schedule:
    """Return the schedule of a load that has sent all and ends as soon as its processes know."""
    return replace(schedule, end=min(schedule.end, float(math.ceil(time.time() + NOTICE_S))))


def cut(schedule: Schedule, sent: AllSent, case: Case) -> Schedule:
    """Return the schedule with its window cut to the whole seconds in which all threads sent.

    Raises ``LoadError`` when there is no such second.
    """
    whole_s = math.floor(sent.first_s) - case.warmup_s
    if whole_s < 1:
        raise LoadError(
            f"all {case.parameters[COUNT]} messages were sent within {sent.last_s:.1f} s, before"
            f" the window, which begins after {case.warmup_s} s, had a whole second: raise"
            f" load.{COUNT}, or lower load.warmup_s"
        )
    return replace(schedule, window_end=min(schedule.window_end, schedule.window_start + whole_s))
