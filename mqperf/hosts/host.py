"""The interface of every kind of host."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue

from mqperf.hosts.clock import Offset
from mqperf.hosts.process import Process, Watched
from mqperf.hosts.software import Machine

if TYPE_CHECKING:
    from mqperf.hosts.roles import Hosts


@dataclass(frozen=True, slots=True)
class Output:
    """A folder on a host for the output of programs, and the function that copies it to us."""

    folder: Path
    fetch: Callable[[], None]


class Host(Machine, Protocol):
    """A machine: its processes, private folders, files, free ports and facts.

    Paths are paths on the host.  Whatever a host provides ends with mqperf, however mqperf ends.
    Every method raises ``HostError``, naming the host or the file, when an operation fails there.
    """

    @property
    def address(self) -> str:
        """The IP address on which its servers listen and at which other hosts reach them."""
        ...

    def start(
        self,
        label: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: Path,
        cwd: Path | None = None,
    ) -> Process:
        """Start a process with its output appended to ``log``."""
        ...

    def scratch(self, prefix: str) -> AbstractContextManager[Path]:
        """Create a private folder that is removed at the end of the context."""
        ...

    def output(self, home: Path) -> AbstractContextManager[Output]:
        """Create a folder for the output of programs, to be copied into our folder ``home``.

        On this machine it may be ``home`` itself.
        """
        ...

    def make(self, folder: Path) -> None:
        """Create a folder for its owner only, and missing parents; it must not exist yet."""
        ...

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        """Write a file atomically, for its owner only, and create missing parent folders."""
        ...

    def read(self, path: Path, start: int = 0) -> bytes:
        """Return the content of a file from byte ``start`` on."""
        ...

    def size(self, path: Path) -> int:
        """Return the size of a file in bytes."""
        ...

    def names(self, folder: Path) -> set[str]:
        """Return the names of all current entries of a folder."""
        ...

    def check_room(self, folder: Path) -> None:
        """Raise ``HostError`` when nothing more can be written into the folder."""
        ...

    def ports(
        self, count: int, first: int | None = None
    ) -> AbstractContextManager[tuple[int, ...]]:
        """Reserve ``count`` consecutive free ports: any, or those from ``first`` on."""
        ...

    def which(self, programs: Sequence[str]) -> Mapping[str, str | None]:
        """Return the location of each program on the host's ``path``, None for missing ones."""
        ...

    def listener(self, label: str, address: str, port: int, program: str) -> Watched | None:
        """Return the process of this program, not started by us, that listens on address and port.

        None when the address is not one of the host's, or the process is not visible to us.
        """
        ...

    def own_processes(self) -> Mapping[str, int]:
        """Return the ids of mqperf's own processes on the host, by the labels that tables show."""
        ...

    def clock(self) -> Offset:
        """Measure how far the host's clock is ahead of ours, with an error bound."""
        ...

    def check(self) -> None:
        """Raise ``HostLost`` if the host is known to be lost; sends nothing to it."""
        ...

    def facts(self) -> dict[str, JsonValue]:
        """Return the facts about the machine that a reader of a measurement needs."""
        ...


@dataclass(frozen=True, slots=True)
class HostKind:
    """A kind of host; the context of ``reached`` provides one or more hosts for each role.

    Entering it raises ``HostError`` for a host that cannot be reached.  ``clients`` returns the
    number of client hosts without connecting to any.  With ``here`` the hosts are parts of this
    machine: what is installed here is installed there.
    """

    name: str
    title: str
    reached: "Callable[[], AbstractContextManager[Hosts]]"
    clients: Callable[[], int] = lambda: 1
    here: bool = False
