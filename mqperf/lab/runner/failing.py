"""The check, in every second of the window, of the plan's condition for a failed run."""

import math
from dataclasses import replace
from typing import Any

from mqperf.lab.runner.control import LEAD_S
from mqperf.lab.runner.gauge import Reading
from mqperf.lab.runner.schedule import Schedule
from mqperf.plan import PERCENTILES, Case, FailWhen

NOTICE_S = LEAD_S + 0.5
"""Seconds between the message of a new end of the load and that end."""


class FailCondition:
    """The fail condition of one run, and since when each of its limits is violated.

    ``offered_msg_s`` are the planned deliveries per second; None where no rate is planned.
    """

    def __init__(self, when: FailWhen, offered_msg_s: float | None) -> None:
        """Begin without a reading."""
        self._when = when
        share = when.throughput_share
        self._minimums = {
            "throughput_msg_s": when.throughput_msg_s,
            "throughput_share": None
            if share is None or offered_msg_s is None
            else share * offered_msg_s,
        }
        self._previous: Reading | None = None
        self._since: dict[str, float] = {}

    def see(self, now: Reading) -> dict[str, Any] | None:
        """Add a reading; return the figures once the condition has lasted long enough, else None.

        ``at_s`` counts from the start of the window.  A second without news from servers, since
        they are busy, counts as one without messages.
        """
        previous, self._previous = self._previous, now
        if previous is None or not now.arrived:
            return None
        violated = self._violated(previous, now)
        self._since = {name: self._since.get(name, previous.at_s) for name in violated}
        for name, (value, limit) in violated.items():
            if now.at_s - self._since[name] >= self._when.for_s - 0.5:
                return {
                    "figure": name,
                    "value": value,
                    "limit": limit,
                    "for_s": self._when.for_s,
                    "at_s": round(now.at_s, 3),
                }
        return None

    def _violated(self, previous: Reading, now: Reading) -> dict[str, tuple[float, float]]:
        """Return each figure of the last second that violates its limit: value and limit.

        Of a percentile the value is the share of messages that took longer than its limit.
        """
        violated = {}
        rate = now.rate_msg_s(previous)
        rate = 0.0 if rate is None else rate
        for name, minimum in self._minimums.items():
            if minimum is not None and rate < minimum:
                violated[name] = (rate, minimum)
        when = self._when
        for name, value, maximum in (
            ("latency_mean_s", now.one_way_s(previous), when.latency_mean_s),
            ("lost_share", now.lost_share(previous), when.lost_share),
        ):
            if maximum is not None and value is not None and value > maximum:
                violated[name] = (value, maximum)
        for index, (name, limit) in enumerate(when.percentiles.items()):
            late = now.late_share(previous, index)
            if late is not None and late > 1 - PERCENTILES[name]:
                violated[name] = (late, limit)
        return violated


def shortened(schedule: Schedule, at_s: float, case: Case) -> Schedule:
    """Return the schedule of a run that ends, at a whole second, once its processes know.

    The window has all seconds that have passed, and the cool-down follows it as planned.
    """
    shortest = math.ceil(at_s + NOTICE_S - case.cooldown_s)
    length = max(1, math.floor(at_s), shortest)
    end = min(schedule.window_end, schedule.window_start + length)
    return replace(schedule, window_end=end, end=end + case.cooldown_s)
