"""What a run is like at this moment, from what its processes write anyway."""

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
    """One look at a run.

    ``at_s`` counts from the start of its window, which is ``window_s`` long.  ``arrived`` is what
    servers have handled so far, by their labels, ``cores`` the CPU that each process used of late,
    by its label.
    """

    at_s: float
    window_s: float
    arrived: Mapping[str, Arrived] = field(default_factory=dict)
    cores: Mapping[str, float] = field(default_factory=dict)

    def rate_msg_s(self, before: "Reading") -> float | None:
        """Messages a second that servers handled since an earlier look; None without servers."""
        pairs = self._pairs(before)
        return sum((b.count - a.count) / (b.at_s - a.at_s) for a, b in pairs) if pairs else None

    def one_way_s(self, before: "Reading") -> float | None:
        """How long a message took since then, mean; None when there was none."""
        pairs = self._pairs(before)
        count = sum(b.count - a.count for a, b in pairs)
        took_s = sum(b.took_s - a.took_s for a, b in pairs)
        return took_s / count if count and not math.isnan(took_s) else None

    def lost_share(self, before: "Reading") -> float | None:
        """The share of messages since then that have not come; None when there was none at all."""
        pairs = self._pairs(before)
        missing = max(0, sum(b.missing - a.missing for a, b in pairs))
        count = missing + sum(b.count - a.count for a, b in pairs)
        return missing / count if count else None

    def late_share(self, before: "Reading", limit: int) -> float | None:
        """The share of messages since then that took longer than that limit; None of no message."""
        pairs = [(a, b) for a, b in self._pairs(before) if len(a.late) == len(b.late) > limit]
        count = sum(b.count - a.count for a, b in pairs)
        return sum(b.late[limit] - a.late[limit] for a, b in pairs) / count if count else None

    def _pairs(self, before: "Reading") -> list[tuple[Arrived, Arrived]]:
        both = ((before.arrived.get(label), arrived) for label, arrived in self.arrived.items())
        return [(a, b) for a, b in both if a is not None and b.at_s > a.at_s]


class Gauge:
    """Looks at one run; raises ``HostError`` where a host does not answer, from any thread."""

    def __init__(
        self, load: Load, control: ControlFolders, probing: list[Probing], schedule: Schedule
    ) -> None:
        """Watch a load whose start is agreed."""
        self._load, self._control, self._probing = load, control, probing
        self._schedule = schedule

    def glance(self) -> Reading:
        """Look now, at messages alone."""
        schedule = self._schedule
        servers = [server.label for server in self._load.of("server")]
        arrived = self._control.arrived(servers) if servers else {}
        return Reading(
            time.time() - schedule.window_start,
            schedule.window_end - schedule.window_start,
            arrived,
        )

    def read(self) -> Reading:
        """Look now."""
        now = self.glance()
        cores: dict[str, float] = {}
        for probing in self._probing:
            cores.update(probing.now())
        return replace(now, cores=cores)
