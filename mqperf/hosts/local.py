"""This machine as a host."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from pydantic import JsonValue

from mqperf.base import processes
from mqperf.base.processes import ForeignProcess, Process
from mqperf.hosts.clock import Offset
from mqperf.hosts.host import HostKind, Output
from mqperf.hosts.roles import Hosts
from mqperf.hosts.software import Platform, here
from mqperf.onhost.machine import facts, files, ports, proc


class LocalHost:
    """This machine: its processes, scratch folders, loopback ports and facts."""

    name = "local"
    address = ports.LOOPBACK
    python = sys.executable

    make = staticmethod(files.make)
    read = staticmethod(files.read)
    size = staticmethod(files.size)
    names = staticmethod(files.names)
    check_room = staticmethod(files.check_room)

    @property
    def path(self) -> str:
        """Where the user's programs are, and those for administrators."""
        return f"{os.environ.get('PATH', os.defpath)}:{facts.SYSTEM_PATH}"

    @property
    def platform(self) -> Platform:
        """That of our own Python."""
        return here()

    def start(
        self,
        label: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: Path,
        cwd: Path | None = None,
    ) -> Process:
        """Start a process that dies with us; see ``processes.start``."""
        return processes.start(label, argv, env=env, log=log, cwd=cwd)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command to its end, by default with our usual variables alone.

        See ``processes.run``.
        """
        variables = processes.usual_variables() if env is None else env
        return processes.run(argv, env=variables, timeout_s=timeout_s)

    def scratch(self, prefix: str) -> AbstractContextManager[Path]:
        """Make a private folder that vanishes at the end; see ``processes.scratch``."""
        return processes.scratch(prefix)

    def copied(self, ours: Path) -> Path:
        """Give the path itself: what is ours is here."""
        return ours

    @contextmanager
    def output(self, home: Path) -> Iterator[Output]:
        """Give the folder itself: what is written there is home."""
        with files.host_errors(home, "make"):
            home.mkdir(parents=True, exist_ok=True)
        yield Output(home, lambda: None)

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        """Write a file for its owner only, and the folders that lead to it; it appears whole."""
        files.write(path, text.encode(), mode)

    def ports(
        self, count: int, first: int | None = None
    ) -> AbstractContextManager[tuple[int, ...]]:
        """Reserve consecutive free loopback ports; see ``ports.reserved``."""
        return ports.reserved(count, first=first)

    def which(self, programs: Sequence[str]) -> Mapping[str, str | None]:
        """Look for programs on the ``path``."""
        return {name: shutil.which(name, path=self.path) for name in programs}

    def listener(self, label: str, address: str, port: int, program: str) -> ForeignProcess | None:
        """Find who listens on a port of an address of ours; see ``proc.listener``."""
        pid = proc.listener(address, port, program)
        created = pid and proc.create_time(pid)
        return ForeignProcess(label, pid, created) if pid and created else None

    def own_processes(self) -> Mapping[str, int]:
        """Tell that mqperf itself runs here."""
        return {"mqperf": os.getpid()}

    def clock(self) -> Offset:
        """Give none: it is our own."""
        return Offset(0.0, 0.0)

    def check(self) -> None:
        """Raise nothing: it is lost together with us."""

    def facts(self) -> dict[str, JsonValue]:
        """Tell what somebody who reads a measurement must know about this machine."""
        return {"label": self.name, **facts.host_facts()}


KIND = HostKind("local", "this machine", lambda: nullcontext(Hosts.alone(LocalHost())), here=True)
