"""This machine as a host."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from pydantic import JsonValue

from mqperf import guarded
from mqperf.guarded import ForeignProcess, Process
from mqperf.hosts import facts, files, ports, proc
from mqperf.hosts.host import HostKind


class LocalHost:
    """This machine: its processes, scratch folders, loopback ports and facts."""

    name = "local"

    def start(
        self,
        label: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: Path,
        cwd: Path | None = None,
    ) -> Process:
        """Start a process that dies with us; see ``guarded.start``."""
        return guarded.start(label, argv, env=env, log=log, cwd=cwd)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command to its end; see ``guarded.run``."""
        return guarded.run(argv, env=env, timeout_s=timeout_s)

    def scratch(self, prefix: str) -> AbstractContextManager[Path]:
        """Make a private folder that vanishes at the end; see ``guarded.scratch``."""
        return guarded.scratch(prefix)

    def make(self, folder: Path) -> None:
        """Make a folder for its owner only, and those that lead to it; it must not be there."""
        files.make(folder)

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        """Write a file for its owner only, and the folders that lead to it; it appears whole."""
        files.write(path, text.encode(), mode)

    def read(self, path: Path, start: int = 0) -> bytes:
        """Give the content of a file from a position on."""
        return files.read(path, start)

    def size(self, path: Path) -> int:
        """Tell how many bytes a file has."""
        return files.size(path)

    def names(self, folder: Path) -> set[str]:
        """Give the names of all that is in a folder now."""
        return files.names(folder)

    def check_room(self, folder: Path) -> None:
        """Raise ``HostError`` when nothing more can be written into the folder."""
        files.check_room(folder)

    def ports(self, count: int) -> AbstractContextManager[tuple[int, ...]]:
        """Reserve consecutive free loopback ports; see ``ports.reserved``."""
        return ports.reserved(count)

    def listener(self, label: str, address: str, port: int, program: str) -> ForeignProcess | None:
        """Find who listens on a port of an address of ours; see ``proc.listener``."""
        pid = proc.listener(address, port, program)
        created = pid and proc.create_time(pid)
        return ForeignProcess(label, pid, created) if pid and created else None

    def own_processes(self) -> Mapping[str, int]:
        """Tell that mqperf itself runs here."""
        return {"mqperf": os.getpid()}

    def facts(self) -> dict[str, JsonValue]:
        """Tell what somebody who reads a measurement must know about this machine."""
        return {"label": self.name, **facts.host_facts()}


KIND = HostKind("local", "this machine", lambda: nullcontext(LocalHost()))
