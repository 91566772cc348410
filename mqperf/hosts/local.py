"""This machine as a host."""

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from pydantic import JsonValue

from mqperf import guarded
from mqperf.guarded import Process
from mqperf.hosts import facts, ports


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

    def ports(self, count: int) -> AbstractContextManager[tuple[int, ...]]:
        """Reserve consecutive free loopback ports; see ``ports.reserved``."""
        return ports.reserved(count)

    def facts(self) -> dict[str, JsonValue]:
        """Tell what somebody who reads a measurement must know about this machine."""
        return {"label": self.name, **facts.host_facts()}
