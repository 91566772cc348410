"""Readings of a run in progress, from the files that its processes write anyway."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mqperf.lab.runner.control import Arrived, ControlFolders
from mqperf.lab.runner.loads import Load
from mqperf.lab.runner.probing import Probing
from mqperf.lab.runner.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Reading:
    """The state of a run at one instant.

    ``at_s`` counts from the start of its window, which is ``window_s`` long.  ``arrived`` has the
    messages handled so far by each server, ``cores`` the recent CPU use of each process, both by
    label.
    """

    at_s: float
    window_s: float
    arrived: Mapping[str, Arrived] = field(default_factory=dict)
    cores: Mapping[str, float] = field(default_factory=dict)

    def rate_msg_s(self, before: "Reading") -> float | None:
        """Return the messages per second handled since an earlier reading; None without servers."""
        pairs = self._pairs(before)
        return sum((b.count - a.count) / (b.at_s - a.at_s) for a, b in pairs) if pairs else None

    def one_way_s(self, before: "Reading") -> float | None:
        """Return the mean one-way time of messages since then; None when there was none."""
        pairs = self._pairs(before)
        count = sum(b.count - a.count for a, b in pairs)
        took_s = sum(b.took_s - a.took_s for a, b in pairs)
        return took_s / count if count and not math.isnan(took_s) else None

    def lost_share(self, before: "Reading") -> float | None:
        """Return the share of messages since then that did not arrive; None without messages."""
        pairs = self._pairs(before)
        missing = max(0, sum(b.missing - a.missing for a, b in pairs))
        count = missing + sum(b.count - a.count for a, b in pairs)
        return missing / count if count else None

    def late_share(self, before: "Reading", limit: int) -> float | None:
        """Return the share of messages since then beyond that limit; None without messages."""
        pairs = [(a, b) for a, b in self._pairs(before) if len(a.late) == len(b.late) > limit]
        count = sum(b.count - a.count for a, b in pairs)
        return sum(b.late[limit] - a.late[limit] for a, b in pairs) / count if count else None

    def _pairs(self, before: "Reading") -> list[tuple[Arrived, Arrived]]:
        both = ((before.arrived.get(label), arrived) for label, arrived in self.arrived.items())
        return [(a, b) for a, b in both if a is not None and b.at_s > a.at_s]


class Gauge:
    """Reads the state of one run, in any thread; raises ``HostError`` for a lost host."""

    def __init__(
        self, load: Load, control: ControlFolders, probing: list[Probing], schedule: Schedule
    ) -> None:
        """Observe a load whose start is agreed."""
        self._load, self._control, self._probing = load, control, probing
        self._schedule = schedule

    def glance(self) -> Reading:
        """Return a reading of now, without CPU use."""
        schedule = self._schedule
        servers = [server.label for server in self._load.of("server")]
        arrived = self._control.arrived(servers) if servers else {}
        return Reading(
            time.time() - schedule.window_start,
            schedule.window_end - schedule.window_start,
            arrived,
        )

    def read(self) -> Reading:
        """Return a reading of now, with CPU use."""
        now = self.glance()
        cores: dict[str, float] = {}
        for probing in self._probing:
            cores.update(probing.now())
        return replace(now, cores=cores)
