"""Programs of this package that run on a host for as long as a context lasts."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mqperf.base.errors import HostError
from mqperf.base.one_line import one_line
from mqperf.hosts import Host, Process
from mqperf.hosts.software import programs

PACKAGE = "mqperf_links"
LIMIT_S = 30.0
END_GRACE_S = 5.0
POLL_S = 0.01


def obstacle(host: Host, *more: str) -> str | None:
    """Return what a program lacks on a host: root, or what shell checks in ``more`` print."""
    root = "test $(id -u) = 0 || echo it needs root"
    result = host.run(["sh", "-c", "; ".join((root, *more))], timeout_s=LIMIT_S)
    return one_line(result.stdout + result.stderr) or None


@dataclass(frozen=True, slots=True)
class Program:
    """A running program, and its host."""

    host: Host
    process: Process

    def line(self, number: int) -> str:
        """Await a line of its output, counted from 0; return its last line instead if it ended."""
        limit = time.monotonic() + LIMIT_S
        while True:
            # checked before the log is read, which is complete if the program has ended
            ended = not self.process.alive or time.monotonic() > limit
            output = self.host.read(self.process.log).decode(errors="replace")
            lines = output.splitlines()
            if len(lines) > number and output.endswith("\n") and not ended:
                return lines[number]
            if ended:
                return one_line(lines[-1]) if len(lines) > number else "it does not say why"
            time.sleep(POLL_S)


@contextmanager
def running(host: Host, module: str, arguments: Sequence[str], fault: str) -> Iterator[Program]:
    """Run a module of the room ``onhost``; yield when it has printed ``ready``.

    Raise ``HostError``, with ``fault`` in its message, for one that does not.
    """
    path = host.copied(programs(PACKAGE))
    with host.scratch("program") as folder:
        argv = [host.python, "-SB", "-m", f"{PACKAGE}.onhost.{module}", *arguments]
        env = {"PYTHONPATH": str(path), "PATH": host.path}
        program = Program(host, host.start(module, argv, env=env, log=folder / "log"))
        try:
            if (answer := program.line(0)) != "ready":
                raise HostError(f"{host.name}: {fault}: {answer}")
            yield program
        finally:
            program.process.stop(END_GRACE_S)
