"""Loads that end after a count of messages: when all are sent, and the window that they leave."""

import math
import time
from collections.abc import Mapping
from dataclasses import replace

from mqperf.base.errors import LoadError
from mqperf.hosts import Offset
from mqperf.lab.runner.control import ControlFolders
from mqperf.lab.runner.failing import TOLD_S
from mqperf.lab.runner.loads import Load
from mqperf.lab.runner.schedule import Schedule
from mqperf.plan import COUNT, Case
from mqperf.record import AllSent


def all_sent(
    load: Load, control: ControlFolders, schedule: Schedule, clocks: Mapping[str, Offset]
) -> AllSent | None:
    """When that was; None for a load without a count, and until it is so."""
    if load.case.parameters.get(COUNT) is None:
        return None
    instants = control.sent([client.label for client in load.of("client")], clocks)
    if instants is None:
        return None
    first_s, last_s = (round(instant - schedule.start, 6) for instant in instants)
    return AllSent(first_s=first_s, last_s=last_s)


def ended(schedule: Schedule) -> Schedule:
    """The schedule of a load that has sent all, and ends as soon as its processes can be told."""
    return replace(schedule, end=min(schedule.end, float(math.ceil(time.time() + TOLD_S))))


def cut(schedule: Schedule, sent: AllSent, case: Case) -> Schedule:
    """The schedule with the seconds of its window in which every thread was sending.

    Raises ``LoadError`` when there is none.
    """
    whole_s = math.floor(sent.first_s) - case.warmup_s
    if whole_s < 1:
        raise LoadError(
            f"all {case.parameters[COUNT]} messages were sent within {sent.last_s:.1f} s, before"
            f" the window, which begins after {case.warmup_s} s, had a whole second: raise"
            f" load.{COUNT}, or lower load.warmup_s"
        )
    return replace(schedule, window_end=min(schedule.window_end, schedule.window_start + whole_s))
