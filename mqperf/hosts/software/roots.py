"""Software in a root file system of its own, for versions other than the installed ones.

Its programs run there in a mount namespace, so that nothing is installed on the host.  Packages
create such folders.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Root:
    """A root file system in a folder of a host, and folders of the host mounted into it."""

    folder: Path
    seen: tuple[Path, ...] = ()

    def command(self, argv: Sequence[str], shown: Path) -> tuple[str, ...]:
        """Return the command that runs a program in this root; it needs the rights of root.

        Of the host the program sees the folders ``shown`` and ``seen``, each at its own path.
        """
        unshare = ("unshare", "--mount", "sh", "-c", _in_root(), "in-root", str(self.folder))
        return (*unshare, *map(str, (shown, *self.seen)), "--", *argv)


@cache
def _in_root() -> str:
    return Path(__file__).with_name("in_root.sh").read_text(encoding="utf-8")
