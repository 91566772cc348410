"""Software in a folder of its own, with a whole system beneath it: another than is installed.

Its programs run there by a namespace of mounts, so that nothing is installed on the host.  Packages
bring the sources of such folders.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mqperf.base.registry import Registry
from mqperf.hosts.software.machine import Machine


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of a host with a system in it, and folders of the host that its programs see."""

    folder: Path
    seen: tuple[Path, ...] = ()

    def command(self, argv: Sequence[str], shown: Path) -> tuple[str, ...]:
        """The command that runs a program of the root; root alone may run it.

        Of the host it sees the folder ``shown`` and those of ``seen``, each at its own path.
        """
        mounts = ("unshare", "--mount", "sh", "-c", _in_root(), "in-root", str(self.folder))
        return (*mounts, *map(str, (shown, *self.seen)), "--", *argv)


@dataclass(frozen=True, slots=True)
class Source:
    """Where roots come from that have a Debian package in a version, 4.3 for any 4.3.x.

    ``find`` gives the one that a host has, None where it must be made; it raises ``SystemFault``,
    which says who must do what, where it cannot be had.  ``make`` takes minutes, and raises too.
    """

    name: str
    find: Callable[[Machine, str, str], Root | None]
    make: Callable[[Machine, str, str], Root]


SOURCES: Registry[Source] = Registry("software")


@cache
def _in_root() -> str:
    return Path(__file__).with_name("in_root.sh").read_text(encoding="utf-8")
