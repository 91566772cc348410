"""The output of programs on several hosts, and its copy into one folder here."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from mqperf.base.closing import ChainedExitStack
from mqperf.hosts import Host, Output


class Outputs:
    """Folders on hosts whose content is collected in one folder here."""

    def __init__(self, folders: Mapping[str, Output]) -> None:
        """Use these folders, by names of their hosts."""
        self._folders = folders

    def at(self, host: Host) -> Path:
        """Return the folder on a host."""
        return self._folders[host.name].folder

    def fetch(self) -> None:
        """Copy the current content of all folders; raises ``HostError`` for a host that fails."""
        with ChainedExitStack() as fetches:  # runs all of them, also when one raises an error
            for output in self._folders.values():
                fetches.callback(output.fetch)


@contextmanager
def gathered(hosts: Sequence[Host], home: Path) -> Iterator[Outputs]:
    """Create a folder on each host, for files whose names differ between hosts."""
    with ChainedExitStack() as stack:
        yield Outputs({host.name: stack.enter_context(host.output(home)) for host in hosts})
