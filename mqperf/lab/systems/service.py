"""A server while a system is up: its process, and the next one when it is started again."""

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from mqperf.hosts import Host, HostFolder, Process
from mqperf.lab.probes import Inside
from mqperf.lab.systems.evidence import LogReader, text

END_GRACE_S = 15


@dataclass(frozen=True, slots=True)
class Server:
    """The specification of one server: its command, its files, and what its log says.

    ``files`` are written into its folder, for us only, before the start; any of the texts ``ready``
    in its log says that it serves, any of ``taken`` that it did not get its port.  One that is
    known to die while it starts, or to hang for ``patience_s``, may be started again, ``restarts``
    times for either.  A ``helper`` is no node: once all serve they need it no longer, and it ends
    after them.  ``inside`` is where it tells of its inside.
    """

    label: str
    name: str
    host_folder: HostFolder
    argv: tuple[str, ...]
    env: Mapping[str, str]
    ready: tuple[str, ...]
    taken: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    restarts: int = 0
    patience_s: float = inf
    helper: bool = False
    inside: Inside | None = None

    @property
    def host(self) -> Host:
        """Where it runs."""
        return self.host_folder.host

    @property
    def folder(self) -> Path:
        """Its folder there."""
        return self.host_folder.folder

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.folder / "server.log"

    def write(self) -> None:
        """Make the folder with its files; raises ``HostError`` when that is refused."""
        self.host.make(self.folder)
        for name, content in self.files.items():
            self.host.write(self.folder / name, content)


class Service:
    """A server that was started; ``began`` is when, on the monotonic clock.

    ``down`` says that it was ended on purpose, and is not to run now.
    """

    def __init__(self, server: Server) -> None:
        """Write its files, and start it."""
        server.write()
        self.server = server
        self.reader = LogReader(server.host, server.log)
        self.down = False
        self._earlier = 0
        self.process = self._launched()

    @property
    def serves(self) -> bool:
        """Whether its log says so, since it was started last."""
        return not self.down and self.says(self.server.ready)

    def says(self, signs: Sequence[str]) -> bool:
        """Whether its log has any of these since it was started last."""
        log = text(self.server.host, self.server.log, self._earlier)
        return any(sign in log for sign in signs)

    def end(self, number: signal.Signals) -> None:
        """Send the signal that ends it; that it does not run is no fault from now on."""
        self.down = True
        self.process.signal(number)

    def start_again(self) -> None:
        """Start it with the files that it has, once what still runs of it has ended."""
        self.process.stop(END_GRACE_S)
        self._earlier = self.server.host.size(self.server.log)
        self.process = self._launched()
        self.down = False

    def _launched(self) -> Process:
        server = self.server
        self.began = time.monotonic()
        return server.host.start(
            server.label, server.argv, env=server.env, log=server.log, cwd=server.folder
        )
