"""A host on which processes start otherwise than on the host itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mqperf.hosts.host import Host
from mqperf.hosts.process import Process

Start = tuple[Sequence[str], Mapping[str, str] | None]
"""Command and variables of a process, as ``start`` of a host takes them."""


@dataclass(frozen=True, slots=True)
class WrappedHost:
    """A host that changes how processes start; everything else is that of the host."""

    host: Host

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as the host has it)
        """What the host has under this name."""
        return getattr(self.host, name)

    def changed(self, _label: str, argv: Sequence[str], env: Mapping[str, str] | None) -> Start:
        """How a process starts that was to start so."""
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
        """Start a process as ``changed`` says."""
        argv, env = self.changed(label, argv, env)
        return self.host.start(label, argv, env=env, log=log, cwd=cwd)
