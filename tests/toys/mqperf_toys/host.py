"""A kind of host: this machine under another name, with a folder of its own for all files."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from mqperf.hosts import HostKind, Hosts, LocalHost


class Corner(LocalHost):
    """A part of this machine, with all files in one folder."""

    name = "toy-corner"

    def __init__(self, root: Path) -> None:
        """Use the folder for all files."""
        self.root = root

    @override
    @contextmanager
    def scratch(self, prefix: str) -> Iterator[Path]:
        """Make a private folder in the host's folder, removed at the end."""
        with tempfile.TemporaryDirectory(prefix=f"{prefix}-", dir=self.root) as folder:
            yield Path(folder)


@contextmanager
def reached() -> Iterator[Hosts]:
    """Yield the host, which needs only a folder, in all roles."""
    with LocalHost().scratch("toy-corner") as root:
        yield Hosts.alone(Corner(root))


KIND = HostKind("toy-corner", "a corner of this machine", reached)
