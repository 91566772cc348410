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
        """The user's PATH, extended by the folders of system programs."""
        return f"{os.environ.get('PATH', os.defpath)}:{facts.SYSTEM_PATH}"

    @property
    def platform(self) -> Platform:
        """The platform of the Python that runs mqperf."""
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
        """Start a process that dies with mqperf; see ``processes.start``."""
        return processes.start(label, argv, env=env, log=log, cwd=cwd)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command to completion, by default with ``usual_variables`` only.

        See ``processes.run``.
        """
        variables = processes.usual_variables() if env is None else env
        return processes.run(argv, env=variables, timeout_s=timeout_s)

    def scratch(self, prefix: str) -> AbstractContextManager[Path]:
        """Create a private folder that is removed at the end; see ``processes.scratch``."""
        return processes.scratch(prefix)

    def copied(self, ours: Path) -> Path:
        """Return the path itself: on this machine nothing needs to be copied."""
        return ours

    @contextmanager
    def output(self, home: Path) -> Iterator[Output]:
        """Yield the folder ``home`` itself: nothing needs to be copied."""
        with files.host_errors(home, "make"):
            home.mkdir(parents=True, exist_ok=True)
        yield Output(home, lambda: None)

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        """Write a file atomically, for its owner only, and create missing parent folders."""
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
        """Find the process that listens on this address and port; see ``proc.listener``."""
        pid = proc.listener(address, port, program)
        created = pid and proc.create_time(pid)
        return ForeignProcess(label, pid, created) if pid and created else None

    def own_processes(self) -> Mapping[str, int]:
        """Return mqperf's own process id."""
        return {"mqperf": os.getpid()}

    def clock(self) -> Offset:
        """Return an offset of zero: the clock is our own."""
        return Offset(0.0, 0.0)

    def check(self) -> None:
        """Do nothing: this machine cannot be lost while mqperf runs."""

    def facts(self) -> dict[str, JsonValue]:
        """Return the facts about this machine that a reader of a measurement needs."""
        return {"label": self.name, **facts.host_facts()}


KIND = HostKind("local", "this machine", lambda: nullcontext(Hosts.alone(LocalHost())), here=True)
