"""A host that is reached over SSH."""

import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from mqperf.base.errors import HostError, HostLost
from mqperf.hosts import clock
from mqperf.hosts.clock import Offset
from mqperf.hosts.host import Output
from mqperf.hosts.place import Place
from mqperf.hosts.remote import transfer
from mqperf.hosts.remote.channel import ANSWER_LIMIT_S, Channel
from mqperf.hosts.remote.process import RemoteForeignProcess, RemoteProcess
from mqperf.hosts.software import Platform


class RemoteHost:
    """Another machine: its processes, folders, files, free ports, facts and clock.

    Nothing is installed there, and nothing of ours remains when mqperf ends, however it ends.
    Every method raises ``HostError`` when an operation fails, ``HostLost`` for a lost host.
    """

    def __init__(self, place: Place, channel: Channel, agent: Mapping[str, Any]) -> None:
        """Use a channel whose agent has started; ``agent`` is its greeting."""
        self.name = place.name
        self.place = place
        self.address = place.listens or _ssh_address(place, agent["address"])
        self.path = str(agent["path"])
        self.python = str(agent["python"])
        self.platform = Platform(*agent["platform"])
        self._agent_pid = int(agent["pid"])
        self._channel = channel
        self._copies: dict[Path, Path] = {}

    def start(
        self,
        label: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: Path,
        cwd: Path | None = None,
    ) -> RemoteProcess:
        """Start a process with output appended to ``log``; ``env`` defaults to the agent's own."""
        pid = self._channel.call(
            "start",
            label=label,
            argv=list(argv),
            env=None if env is None else dict(env),
            log=str(log),
            cwd=None if cwd is None else str(cwd),
        )
        return RemoteProcess(label, pid, log, self._channel)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command to completion, and end everything that it started."""
        variables = None if env is None else dict(env)
        request = self._channel.ask("run", argv=list(argv), env=variables, limit_s=timeout_s)
        done = self._channel.answer(request, timeout_s + ANSWER_LIMIT_S).value
        return subprocess.CompletedProcess(argv, *done)

    @contextmanager
    def scratch(self, prefix: str) -> Iterator[Path]:
        """Create a private folder, removed at the end, or by the agent when its lease expires."""
        folder = self._channel.call("scratch", prefix=prefix)
        try:
            yield Path(folder)
        finally:
            with suppress(HostLost):
                self._channel.call("release", held=folder)

    def copied(self, ours: Path) -> Path:
        """Copy a local file or folder to the host once; return its path there."""
        if ours not in self._copies:
            there = Path(self._channel.call("scratch", prefix="software")) / ours.name
            if ours.is_dir():
                transfer.push(self._channel, ours, there)
            else:
                transfer.write(self._channel, there, ours.read_bytes(), 0o600)
            self._copies[ours] = there
        return self._copies[ours]

    @contextmanager
    def output(self, home: Path) -> Iterator[Output]:
        """Create a folder on the host, to be fetched into the local folder ``home``."""
        with self.scratch("output") as folder:
            yield Output(folder, partial(self.fetch, folder, home))

    def make(self, folder: Path) -> None:
        """Create a folder for its owner only, and missing parents; it must not exist yet."""
        self._channel.call("make", path=str(folder))

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        """Write a file atomically, for its owner only, and create missing parent folders."""
        transfer.write(self._channel, path, text.encode(), mode)

    def read(self, path: Path, start: int = 0) -> bytes:
        """Return the content of a file from byte ``start`` on."""
        return transfer.read(self._channel, path, start)

    def size(self, path: Path) -> int:
        """Return the size of a file in bytes."""
        return int(self._channel.call("size", path=str(path)))

    def names(self, folder: Path) -> set[str]:
        """Return the names of all current entries of a folder."""
        return set(self._channel.call("names", path=str(folder)))

    def push(self, folder: Path, there: Path) -> None:
        """Copy a local folder to the host; see ``transfer.push``."""
        transfer.push(self._channel, folder, there)

    def fetch(self, there: Path, folder: Path) -> None:
        """Copy a folder of the host to this machine; see ``transfer.fetch``."""
        transfer.fetch(self._channel, there, folder)

    def check_room(self, folder: Path) -> None:
        """Raise ``HostError`` when nothing more can be written into the folder."""
        self._channel.call("check_room", path=str(folder))

    @contextmanager
    def ports(self, count: int, first: int | None = None) -> Iterator[tuple[int, ...]]:
        """Reserve consecutive ports that are free on every address of the host."""
        block = self._channel.call("ports", count=count, first=first)
        try:
            yield tuple(block)
        finally:
            with suppress(HostLost):
                self._channel.call("release", held=str(block[0]))

    def listener(
        self, label: str, address: str, port: int, program: str
    ) -> RemoteForeignProcess | None:
        """Find the process that listens on this address and port, if the agent can see it."""
        answer = self._channel.call("listener", address=address, port=port, program=program)
        if answer is None:
            return None
        return RemoteForeignProcess(label, answer[0], answer[1], self._channel)

    def own_processes(self) -> Mapping[str, int]:
        """Return the process id of the agent."""
        return {f"agent {self.name}": self._agent_pid}

    def facts(self) -> dict[str, JsonValue]:
        """Return the facts about the machine that a reader of a measurement needs."""
        return {"label": self.name, **self._channel.call("facts")}

    def room_bytes(self) -> int:
        """Return the free space for temporary files."""
        return int(self._channel.call("room_bytes"))

    def which(self, programs: Sequence[str]) -> dict[str, str | None]:
        """Return the location of each program, None for missing ones."""
        return dict(self._channel.call("which", programs=list(programs)))

    def clock(self) -> Offset:
        """Measure how far the host's clock is ahead of ours; see ``clock.offset``."""
        return clock.offset(self._channel.echo)

    def round_trip_s(self) -> float:
        """Measure the round-trip time to the host: the median of some exchanges."""
        echoes = (self._channel.echo() for _ in range(clock.ECHOES))
        return statistics.median(echo.round_trip_s for echo in echoes)

    def check(self) -> None:
        """Raise ``HostLost`` if the host is known to be lost; sends nothing to it."""
        self._channel.check()


def _ssh_address(place: Place, addresses: Sequence[str]) -> str:
    """Return the IPv4 address at which ssh reached the host, the first of ``addresses``."""
    address = next(iter(addresses), "")
    if not address or ":" in address:
        raise HostError(
            f"{place.name}: its IPv4 address is not known, on which brokers and load generators"
            f" listen (ssh led to {address or 'none'}): give it as mqperf_address"
        )
    return address
