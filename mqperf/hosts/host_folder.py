"""A folder on a host for the files of a system under test."""

from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts.host import Host


@dataclass(frozen=True, slots=True)
class HostFolder:
    """A host, and a private folder on it."""

    host: Host
    folder: Path

    def within(self, name: str) -> "HostFolder":
        """Return the subfolder of this name, on the same host."""
        return HostFolder(self.host, self.folder / name)
