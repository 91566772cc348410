"""Software in a folder of its own, with a whole system beneath it: another than is installed.

Its programs run there by a namespace of mounts, so that nothing is installed on the host.  Packages
make such folders.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path


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


@cache
def _in_root() -> str:
    return Path(__file__).with_name("in_root.sh").read_text(encoding="utf-8")
