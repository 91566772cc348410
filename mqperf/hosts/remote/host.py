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

    Nothing is installed there, and nothing of ours is left there when we end, however we do.  Every
    method raises ``HostError`` when the host refuses, ``HostLost`` when it answers no more.
    """

    def __init__(self, place: Place, channel: Channel, agent: Mapping[str, Any]) -> None:
        """Take over a channel on which the agent has greeted, and what it said of itself."""
        self.name = place.name
        self.place = place
        self.address = place.listens or _reached_at(place, agent["address"])
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
        """Start a process with its output appended to ``log``; ``env`` None is the agent's own."""
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
        """Run a short command to its end, and all that it started."""
        variables = None if env is None else dict(env)
        asked = self._channel.ask("run", argv=list(argv), env=variables, limit_s=timeout_s)
        done = self._channel.answer(asked, timeout_s + ANSWER_LIMIT_S).value
        return subprocess.CompletedProcess(argv, *done)

    @contextmanager
    def scratch(self, prefix: str) -> Iterator[Path]:
        """Make a private folder that vanishes at the end; of a lost host, with its lease."""
        folder = self._channel.call("scratch", prefix=prefix)
        try:
            yield Path(folder)
        finally:
            with suppress(HostLost):
                self._channel.call("release", held=folder)

    def copied(self, ours: Path) -> Path:
        """Copy a file or folder of ours to the host, unless that was done already."""
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
        """Make a folder there, to be fetched into ours."""
        with self.scratch("output") as folder:
            yield Output(folder, partial(self.fetch, folder, home))

    def make(self, folder: Path) -> None:
        """Make a folder for its owner only, and those that lead to it; it must not be there."""
        self._channel.call("make", path=str(folder))

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        """Write a file for its owner only, and the folders that lead to it; it appears whole."""
        transfer.write(self._channel, path, text.encode(), mode)

    def read(self, path: Path, start: int = 0) -> bytes:
        """Give the content of a file from a position on."""
        return transfer.read(self._channel, path, start)

    def size(self, path: Path) -> int:
        """Tell how many bytes a file has."""
        return int(self._channel.call("size", path=str(path)))

    def names(self, folder: Path) -> set[str]:
        """Give the names of all that is in a folder now."""
        return set(self._channel.call("names", path=str(folder)))

    def push(self, folder: Path, there: Path) -> None:
        """Copy a folder of ours to the host; see ``transfer.push``."""
        transfer.push(self._channel, folder, there)

    def fetch(self, there: Path, folder: Path) -> None:
        """Copy a folder of the host to us; see ``transfer.fetch``."""
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
        """Find who listens on a port of an address of the host, if its agent may see it."""
        answer = self._channel.call("listener", address=address, port=port, program=program)
        if answer is None:
            return None
        return RemoteForeignProcess(label, answer[0], answer[1], self._channel)

    def own_processes(self) -> Mapping[str, int]:
        """Tell that our agent runs there."""
        return {f"agent {self.name}": self._agent_pid}

    def facts(self) -> dict[str, JsonValue]:
        """Tell what somebody who reads a measurement must know about the machine."""
        return {"label": self.name, **self._channel.call("facts")}

    def room_bytes(self) -> int:
        """Free space for temporary files."""
        return int(self._channel.call("room_bytes"))

    def which(self, programs: Sequence[str]) -> dict[str, str | None]:
        """Where programs are, None for those that are not there."""
        return dict(self._channel.call("which", programs=list(programs)))

    def clock(self) -> Offset:
        """How far its clock is ahead of ours, with a bound; see ``clock.offset``."""
        return clock.offset(self._channel.echo)

    def round_trip_s(self) -> float:
        """How long an exchange with the host takes: the median of a few."""
        echoes = (self._channel.echo() for _ in range(clock.ECHOES))
        return statistics.median(echo.round_trip_s for echo in echoes)

    def check(self) -> None:
        """Raise ``HostLost`` when it is; asks nobody, and costs nothing."""
        self._channel.check()


def _reached_at(place: Place, of_ssh: Sequence[str]) -> str:
    """The address of the host to which ssh led, unless the inventory says another."""
    address = next(iter(of_ssh), "")
    if not address or ":" in address:
        raise HostError(
            f"{place.name}: its IPv4 address is not known, on which brokers and load generators"
            f" listen (ssh led to {address or 'none'}): give it as mqperf_address"
        )
    return address
