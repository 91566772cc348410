"""The control folders between the runner and the processes of one run, one on each host.

Processes report that they are ready and how much they received; the runner tells them when to start
and when to stop.  Every message is a small file, written atomically, which works for any process on
any file system and costs nothing inside the window.
"""

import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.closing import ChainedExitStack
from mqperf.base.errors import HostError, LoadError
from mqperf.hosts import Host, Offset

POLL_S = 0.05
LEAD_S = 0.7
"""Seconds that a process has between reading the start time and the start itself."""

LATEST_S = 0.2
"""Seconds before the start at which every host must know the start time."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """Messages that a server has handled until ``at_s`` of its host's monotonic clock.

    ``took_s`` is the sum of their one-way times, NaN where the server does not report it.
    ``missing`` is the number that did not arrive though later ones did; ``late`` has, for each
    limit that the server knows, the number that took longer.
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

    def senders(self, topic: str) -> set[str]:
        """Return the labels of the processes that have sent a message of this topic."""
        suffix, names = f".{topic}", self.host.names(self.folder)
        return {name.removesuffix(suffix) for name in names if name.endswith(suffix)}

    def arrived(self, labels: Iterable[str]) -> dict[str, Arrived]:
        """Return what each of these servers that run on this host has handled so far."""
        arrived = {}
        for label in self.senders("count") & set(labels):
            count, *fields = self.host.read(self.folder / f"{label}.count").split()
            took_s, at_s = map(float, fields[:2]) if fields else (math.nan, time.monotonic())
            missing, *late = map(int, fields[2:]) if fields[2:] else (0,)
            arrived[label] = Arrived(int(count), took_s, at_s, missing, tuple(late))
        return arrived

    def sent(self, labels: Iterable[str]) -> dict[str, tuple[float, float]]:
        """Return when the first and the last thread of each finished client had sent everything."""
        sent = {}
        for label in self.senders("sent") & set(labels):
            first, last = self.host.read(self.folder / f"{label}.sent").split()
            sent[label] = float(first), float(last)
        return sent

    def signs(self, name: str) -> list[float]:
        """Return when each process last gave the sign of that name, by the clock of this host."""
        labels = self.senders(name)
        return [float(self.host.read(self.folder / f"{label}.{name}")) for label in labels]


class ControlFolders:
    """The control folders of all hosts of a run, as the runner uses them."""

    def __init__(self, stations: Sequence[Station]) -> None:
        """Use these folders, one per host."""
        self._stations = {station.host.name: station for station in stations}

    def at(self, host: Host) -> Station:
        """Return the control folder on a host."""
        return self._stations[host.name]

    def missing(self, labels: Collection[str], topic: str = "ready") -> set[str]:
        """Return the labels of the processes that have not sent a message of this topic yet."""
        return set(labels).difference(*(s.senders(topic) for s in self._stations.values()))

    def await_ready(
        self, labels: Collection[str], timeout_s: float, watch: Callable[[], None]
    ) -> None:
        """Wait until every process is ready; ``watch`` raises when one of them died."""
        deadline = time.monotonic() + timeout_s
        while missing := self.missing(labels):
            watch()
            if time.monotonic() > deadline:
                raise LoadError(
                    f"{', '.join(sorted(missing))}: not ready within {timeout_s:.0f} s;"
                    " see their logs in the run folder"
                )
            time.sleep(POLL_S)

    def start(self, start: int, clocks: Mapping[str, Offset]) -> None:
        """Write the agreed start to every host, in epoch seconds of its own clock.

        Raises ``HostError`` when a host got it too late for its processes to start in time.
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
        """Write an earlier end of the load to every host, by its own clock."""
        for name, station in self._stations.items():
            station.place({"end": json.dumps({"end": end + clocks[name].offset_s})})

    def stop(self) -> None:
        """Ask the servers to finish."""
        for station in self._stations.values():
            station.place({"stop": ""})

    def arrived(self, labels: Sequence[str]) -> dict[str, Arrived]:
        """Return what each server has handled so far, by label."""
        by_station = [station.arrived(labels) for station in self._stations.values()]
        return {label: arrived for each in by_station for label, arrived in each.items()}

    def sent(
        self, labels: Sequence[str], clocks: Mapping[str, Offset]
    ) -> tuple[float, float] | None:
        """Return when the first and the last thread had sent everything, by our clock, or None."""
        sent: dict[str, tuple[float, float]] = {}
        for name, station in self._stations.items():
            for label, instants in station.sent(labels).items():
                first, last = (instant - clocks[name].offset_s for instant in instants)
                sent[label] = first, last
        if set(sent) != set(labels):
            return None
        return min(span[0] for span in sent.values()), max(span[1] for span in sent.values())

    def sign(self, clocks: Mapping[str, Offset], name: str, since: float) -> float | None:
        """Return the earliest of all last signs not before ``since``, by our clock, or None."""
        instants = (
            instant - clocks[host].offset_s
            for host, station in self._stations.items()
            for instant in station.signs(name)
        )
        return min((instant for instant in instants if instant >= since), default=None)

    def received(self, labels: Sequence[str]) -> int:
        """Return the number of messages that the servers have handled so far."""
        return sum(arrived.count for arrived in self.arrived(labels).values())


def next_start(earliest: float = 0.0) -> int:
    """Return the next whole second from ``earliest`` that every process can meet; epoch seconds."""
    return max(int(time.time() + LEAD_S) + 1, math.ceil(earliest))


@contextmanager
def controlled(hosts: Iterable[Host]) -> Iterator[ControlFolders]:
    """Create control folders on these hosts, which are removed at the end."""
    with ChainedExitStack() as stack:
        yield ControlFolders(
            [Station(host, stack.enter_context(host.scratch("run"))) for host in hosts]
        )
