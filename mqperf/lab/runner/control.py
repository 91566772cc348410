"""The control folders between the runner and the processes of one run, one on each host.

Processes say that they are ready and how much they received; the runner says when to start and when
to stop.  Every message is a small file that appears whole, so it works the same for any process on
any file system and costs nothing inside the window.
"""

import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import HostError, LoadError
from mqperf.hosts import Host, Offset

POLL_S = 0.05
LEAD_S = 0.7
"""Seconds that a process gets between reading the start and the start itself."""

LATEST_S = 0.2
"""So long before the start every host must have it."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """Messages that a server has handled until an instant of its host's monotonic clock.

    ``took_s`` is how long they took one way, all together; NaN where the server does not say.
    ``missing`` have not come, though later ones have; ``late`` took longer than each of the limits
    that the server knows.
    """

    count: int
    took_s: float
    at_s: float
    missing: int = 0
    late: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Station:
    """The control folder on one host; it is private to one run."""

    host: Host
    folder: Path

    def place(self, files: Mapping[str, str]) -> None:
        """Write files for processes that are about to start, readable for their owner only."""
        for name, text in files.items():
            self.host.write(self.folder / name, text)

    def told(self, topic: str) -> set[str]:
        """Labels of the processes that said so."""
        end, names = f".{topic}", self.host.names(self.folder)
        return {name.removesuffix(end) for name in names if name.endswith(end)}

    def arrived(self, labels: Iterable[str]) -> dict[str, Arrived]:
        """What each of these servers has handled so far, of those that are here."""
        arrived = {}
        for label in self.told("count") & set(labels):
            count, *more = self.host.read(self.folder / f"{label}.count").split()
            took_s, at_s = map(float, more[:2]) if more else (math.nan, time.monotonic())
            missing, *late = map(int, more[2:]) if more[2:] else (0,)
            arrived[label] = Arrived(int(count), took_s, at_s, missing, tuple(late))
        return arrived

    def sent(self, labels: Iterable[str]) -> dict[str, tuple[float, float]]:
        """When the first and the last thread of these clients had sent all, of those that have."""
        sent = {}
        for label in self.told("sent") & set(labels):
            first, last = self.host.read(self.folder / f"{label}.sent").split()
            sent[label] = float(first), float(last)
        return sent

    def signs(self, name: str) -> list[float]:
        """When each process last gave the sign of that name, by the clock of this host."""
        labels = self.told(name)
        return [float(self.host.read(self.folder / f"{label}.{name}")) for label in labels]


class ControlFolders:
    """Those of all hosts of a run, as the runner sees them."""

    def __init__(self, stations: Sequence[Station]) -> None:
        """Use these, each on another host."""
        self._stations = {station.host.name: station for station in stations}

    def at(self, host: Host) -> Station:
        """The control folder on a host."""
        return self._stations[host.name]

    def missing(self, labels: Collection[str], topic: str = "ready") -> set[str]:
        """Who of these processes has not said so yet."""
        return set(labels).difference(*(at.told(topic) for at in self._stations.values()))

    def await_ready(
        self, labels: Collection[str], timeout_s: float, watch: Callable[[], None]
    ) -> None:
        """Wait until every process is ready; ``watch`` raises when one of them died."""
        limit = time.monotonic() + timeout_s
        while missing := self.missing(labels):
            watch()
            if time.monotonic() > limit:
                raise LoadError(
                    f"{', '.join(sorted(missing))}: not ready within {timeout_s:.0f} s;"
                    " see their logs in the run folder"
                )
            time.sleep(POLL_S)

    def start(self, start: int, clocks: Mapping[str, Offset]) -> None:
        """Tell every host the agreed start, in epoch seconds of its own clock.

        Raises ``HostError`` when one was told too late for its processes to meet it.
        """
        for name, station in self._stations.items():
            host_start = start + clocks[name].offset_s
            station.place({"start": json.dumps({"start": host_start})})
            if time.time() > start - LATEST_S:
                raise HostError(
                    f"{name}: learned of the start less than {LATEST_S:g} s before it: the"
                    " connection is slow, or this machine is busy; repeat the command"
                )

    def end(self, end: float, clocks: Mapping[str, Offset]) -> None:
        """Tell every host that the load ends earlier than was agreed, by its own clock."""
        for name, station in self._stations.items():
            station.place({"end": json.dumps({"end": end + clocks[name].offset_s})})

    def stop(self) -> None:
        """Ask the servers to finish."""
        for station in self._stations.values():
            station.place({"stop": ""})

    def arrived(self, labels: Sequence[str]) -> dict[str, Arrived]:
        """What each server has handled so far."""
        every = [station.arrived(labels) for station in self._stations.values()]
        return {label: arrived for of_station in every for label, arrived in of_station.items()}

    def sent(
        self, labels: Sequence[str], clocks: Mapping[str, Offset]
    ) -> tuple[float, float] | None:
        """When the first and the last thread had sent all, by our clock; None until all have."""
        sent: dict[str, tuple[float, float]] = {}
        for name, station in self._stations.items():
            for label, instants in station.sent(labels).items():
                first, last = (instant - clocks[name].offset_s for instant in instants)
                sent[label] = first, last
        if set(sent) != set(labels):
            return None
        return min(span[0] for span in sent.values()), max(span[1] for span in sent.values())

    def sign(self, clocks: Mapping[str, Offset], name: str, since: float) -> float | None:
        """The first of the last instants at which processes gave a sign; all by our clock."""
        instants = (
            instant - clocks[host].offset_s
            for host, station in self._stations.items()
            for instant in station.signs(name)
        )
        return min((instant for instant in instants if instant >= since), default=None)

    def received(self, labels: Sequence[str]) -> int:
        """Messages that the servers have handled so far."""
        return sum(arrived.count for arrived in self.arrived(labels).values())


def next_start(earliest: float = 0.0) -> int:
    """The next whole second from ``earliest`` that every process can meet, in epoch seconds."""
    return max(int(time.time() + LEAD_S) + 1, math.ceil(earliest))


@contextmanager
def controlled(hosts: Iterable[Host]) -> Iterator[ControlFolders]:
    """Control folders on these hosts, which vanish at the end."""
    with ExitStack() as stack:
        yield ControlFolders(
            [Station(host, stack.enter_context(host.scratch("run"))) for host in hosts]
        )
