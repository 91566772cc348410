"""What every host is to those who use it."""

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
    """A folder on a host into which programs write, and how its content gets home to ours."""

    folder: Path
    fetch: Callable[[], None]


class Host(Machine, Protocol):
    """A machine: its processes, private folders, files, free ports and facts.

    Paths are those of the host.  Whatever a host gives ends with us, however we end.  Every method
    raises ``HostError``, which names the host or the file, when the host refuses.
    """

    @property
    def address(self) -> str:
        """Where servers on it listen, and where others reach them: a number, no name."""
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
        """Make a private folder that vanishes at the end."""
        ...

    def output(self, home: Path) -> AbstractContextManager[Output]:
        """Make a folder for what programs write there, whose content gets home to a folder of ours.

        It may be that folder itself.
        """
        ...

    def make(self, folder: Path) -> None:
        """Make a folder for its owner only, and those that lead to it; it must not be there."""
        ...

    def write(self, path: Path, text: str, mode: int = 0o600) -> None:
        """Write a file for its owner only, and the folders that lead to it; it appears whole."""
        ...

    def read(self, path: Path, start: int = 0) -> bytes:
        """The content of a file from a position on."""
        ...

    def size(self, path: Path) -> int:
        """How many bytes a file has."""
        ...

    def names(self, folder: Path) -> set[str]:
        """Names of all that is in a folder now."""
        ...

    def check_room(self, folder: Path) -> None:
        """Raise ``HostError`` when nothing more can be written into the folder."""
        ...

    def ports(
        self, count: int, first: int | None = None
    ) -> AbstractContextManager[tuple[int, ...]]:
        """Reserve consecutive free ports: any, or those from ``first`` on."""
        ...

    def which(self, programs: Sequence[str]) -> Mapping[str, str | None]:
        """Where programs are on its ``path``, None for those that are not there."""
        ...

    def listener(self, label: str, address: str, port: int, program: str) -> Watched | None:
        """Somebody's process of this program that listens on a port of an address of the host.

        None when the address is no one of the host's, or it may not be seen.
        """
        ...

    def own_processes(self) -> Mapping[str, int]:
        """What runs there of mqperf itself: process ids by the labels that tables show."""
        ...

    def clock(self) -> Offset:
        """How far its clock is ahead of ours, with a bound."""
        ...

    def check(self) -> None:
        """Raise ``HostLost`` when it does not answer any more; asks nobody, and costs nothing."""
        ...

    def facts(self) -> dict[str, JsonValue]:
        """What somebody who reads a measurement must know about the machine."""
        ...


@dataclass(frozen=True, slots=True)
class HostKind:
    """A kind of host; ``reached`` gives one for each role, or more, as long as its context lasts.

    Entering it raises ``HostError`` for a host that cannot be reached.  ``clients`` tells how many
    client hosts there are without reaching any.  The hosts of one that is ``here`` are parts of
    this machine: what is installed here is installed there.
    """

    name: str
    title: str
    reached: "Callable[[], AbstractContextManager[Hosts]]"
    clients: Callable[[], int] = lambda: 1
    here: bool = False
