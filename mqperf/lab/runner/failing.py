"""Whether a run has come to what its plan calls failed: looked at every second of the window."""

import math
from dataclasses import replace
from typing import Any

from mqperf.lab.runner.control import LEAD_S
from mqperf.lab.runner.gauge import Reading
from mqperf.lab.runner.schedule import Schedule
from mqperf.plan import PERCENTILES, Case, FailWhen

TOLD_S = LEAD_S + 0.5
"""So long before the new end of the load its processes are told of it."""


class FailCondition:
    """A fail condition of one run, with what was seen of it so far.

    ``offered_msg_s`` are the deliveries a second that are asked for; None where no rate is.
    """

    def __init__(self, when: FailWhen, offered_msg_s: float | None) -> None:
        """Begin with nothing seen."""
        self._when = when
        share = when.throughput_share
        self._least = {
            "throughput_msg_s": when.throughput_msg_s,
            "throughput_share": None
            if share is None or offered_msg_s is None
            else share * offered_msg_s,
        }
        self._before: Reading | None = None
        self._since: dict[str, float] = {}

    def see(self, now: Reading) -> dict[str, Any] | None:
        """Take in one more look; the figures when the condition has lasted long enough.

        ``at_s`` counts from the start of the window.  A second in which servers said nothing new,
        since they are busy, counts as one without messages.
        """
        before, self._before = self._before, now
        if before is None or not now.arrived:
            return None
        broken = self._broken(before, now)
        self._since = {name: self._since.get(name, before.at_s) for name in broken}
        for name, (value, limit) in broken.items():
            if now.at_s - self._since[name] >= self._when.for_s - 0.5:
                return {
                    "figure": name,
                    "value": value,
                    "limit": limit,
                    "for_s": self._when.for_s,
                    "at_s": round(now.at_s, 3),
                }
        return None

    def _broken(self, before: Reading, now: Reading) -> dict[str, tuple[float, float]]:
        """What is so in the last second: the value, and the limit that it is beyond.

        Of a percentile the value is the share of messages that took longer than its limit.
        """
        broken = {}
        rate = now.rate_msg_s(before)
        rate = 0.0 if rate is None else rate
        for name, least in self._least.items():
            if least is not None and rate < least:
                broken[name] = (rate, least)
        when = self._when
        for name, value, most in (
            ("latency_mean_s", now.one_way_s(before), when.latency_mean_s),
            ("lost_share", now.lost_share(before), when.lost_share),
        ):
            if most is not None and value is not None and value > most:
                broken[name] = (value, most)
        for place, (name, limit) in enumerate(when.percentiles.items()):
            late = now.late_share(before, place)
            if late is not None and late > 1 - PERCENTILES[name]:
                broken[name] = (late, limit)
        return broken


def shortened(schedule: Schedule, at_s: float, case: Case) -> Schedule:
    """The schedule of a run that ends as soon as its processes can be told, by the whole second.

    The window has all seconds that have passed, and the cool-down follows it as planned.
    """
    shortest = math.ceil(at_s + TOLD_S - case.cooldown_s)
    length = max(1, math.floor(at_s), shortest)
    end = min(schedule.window_end, schedule.window_start + length)
    return replace(schedule, window_end=end, end=end + case.cooldown_s)
