"""A kind of host: this machine under another name, with a folder of its own for all it makes."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from mqperf.hosts import HostKind, Hosts, LocalHost


class Corner(LocalHost):
    """A corner of this machine."""

    name = "toy-corner"

    def __init__(self, root: Path) -> None:
        """Keep to a folder."""
        self.root = root

    @override
    @contextmanager
    def scratch(self, prefix: str) -> Iterator[Path]:
        """Make a private folder in ours that vanishes at the end."""
        with tempfile.TemporaryDirectory(prefix=f"{prefix}-", dir=self.root) as folder:
            yield Path(folder)


@contextmanager
def reached() -> Iterator[Hosts]:
    """Reach it, which takes no more than a folder; it has all roles."""
    with LocalHost().scratch("toy-corner") as root:
        yield Hosts.alone(Corner(root))


KIND = HostKind("toy-corner", "a corner of this machine", reached)
