"""A host that changes the command or the environment of the processes started on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mqperf.hosts.host import Host
from mqperf.hosts.process import Process

Start = tuple[Sequence[str], Mapping[str, str] | None]
"""Command and environment of a process, as ``Host.start`` takes them."""


@dataclass(frozen=True, slots=True)
class WrappedHost:
    """A host that changes how processes start; everything else is delegated to ``host``."""

    host: Host

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as the host has it)
        """Return the attribute of the wrapped host."""
        return getattr(self.host, name)

    def changed(self, _label: str, argv: Sequence[str], env: Mapping[str, str] | None) -> Start:
        """Return the changed command and environment of a process; unchanged by default."""
        return argv, env

    def start(
        self,
        label: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: Path,
        cwd: Path | None = None,
    ) -> Process:
        """Start a process with the command and environment that ``changed`` returns."""
        argv, env = self.changed(label, argv, env)
        return self.host.start(label, argv, env=env, log=log, cwd=cwd)
