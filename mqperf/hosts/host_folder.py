"""A place on a host for what a system needs there."""

from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts.host import Host


@dataclass(frozen=True, slots=True)
class HostFolder:
    """A host, and a private folder on it."""

    host: Host
    folder: Path

    def within(self, name: str) -> "HostFolder":
        """A folder below, on the same host."""
        return HostFolder(self.host, self.folder / name)
