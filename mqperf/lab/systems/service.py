"""A server of a running system: its current process, and restarts."""

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
    """The specification of one server: its command, its files, and messages in its log.

    ``files`` are written into its folder, for their owner only, before the start; any of the texts
    ``ready`` in its log means that it serves, any of ``taken`` that it did not get its port.  A
    server that is known to die while it starts, or to hang for ``patience_s``, is restarted up to
    ``restarts`` times for either.  A ``helper`` is not a node: the nodes need it only until all
    serve, and it ends after them.  ``inside`` is the endpoint of its metrics.
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
        """The host on which it runs."""
        return self.host_folder.host

    @property
    def folder(self) -> Path:
        """Its folder on the host."""
        return self.host_folder.folder

    @property
    def log(self) -> Path:
        """The file for its output."""
        return self.folder / "server.log"

    def write(self) -> None:
        """Create its folder and files; raises ``HostError`` when that fails."""
        self.host.make(self.folder)
        for name, content in self.files.items():
            self.host.write(self.folder / name, content)


class Service:
    """A server that was started; ``began`` is when, on the monotonic clock.

    ``down`` is true while it is ended on purpose.
    """

    def __init__(self, server: Server) -> None:
        """Write the files of the server, and start it."""
        server.write()
        self.server = server
        self.reader = LogReader(server.host, server.log)
        self.down = False
        self._log_start = 0
        self.process = self._launch()

    @property
    def serves(self) -> bool:
        """Whether it is ready, according to its log since the last start."""
        return not self.down and self.says(self.server.ready)

    def says(self, texts: Sequence[str]) -> bool:
        """Return whether its log since the last start has any of these texts."""
        log = text(self.server.host, self.server.log, self._log_start)
        return any(each in log for each in texts)

    def end(self, number: signal.Signals) -> None:
        """End it by a signal; from now on its absence is not reported as a fault."""
        self.down = True
        self.process.signal(number)

    def start_again(self) -> None:
        """Restart it with its present files, after its last process has ended."""
        self.process.stop(END_GRACE_S)
        self._log_start = self.server.host.size(self.server.log)
        self.process = self._launch()
        self.down = False

    def _launch(self) -> Process:
        server = self.server
        self.began = time.monotonic()
        return server.host.start(
            server.label, server.argv, env=server.env, log=server.log, cwd=server.folder
        )
