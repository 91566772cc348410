"""What programs on several hosts write, and how it gets home into one folder."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mqperf.hosts import Host, Output


class Outputs:
    """Folders on hosts whose content belongs into one folder of ours."""

    def __init__(self, folders: Mapping[str, Output]) -> None:
        """Take them, by the names of their hosts."""
        self._folders = folders

    def at(self, host: Host) -> Path:
        """The folder on a host."""
        return self._folders[host.name].folder

    def fetch(self) -> None:
        """Bring home what is there now; raises ``HostError`` for a host that does not give it."""
        with ExitStack() as each:  # the others, too, when one cannot
            for output in self._folders.values():
                each.callback(output.fetch)


@contextmanager
def gathered(hosts: Sequence[Host], home: Path) -> Iterator[Outputs]:
    """A folder on each host, for files that differ in their names from host to host."""
    with ExitStack() as stack:
        yield Outputs({host.name: stack.enter_context(host.output(home)) for host in hosts})
