"""Our publishers and consumers on this machine, measured in a window while they run."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import psutil

from mqperf.hosts import LocalHost
from mqperf.lab.load import Access, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import pairs
from mqperf.record.counts import CountsFile, read_counts
from mqperf_amqp_0_9_1.lab.launcher import PROGRAM, commands

FIXED = {
    "system": "rabbitmq",
    "topology": "cmsm",
    "queues": "classic",
    "test_case": "publish",
    "generator": "amqp-0-9-1",
    "warmup_s": 0,
    "cooldown_s": 0,
}
LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Measured:
    """Messages received per second, and CPU seconds of all processes per message."""

    msg_s: float
    cpu_s: float


def case(parameters: dict[str, object], threads: int, seconds: int) -> Case:
    """Return a load of ``threads`` publishers with a queue each."""
    return Case.model_validate(
        {**FIXED, "green_threads": threads, "duration_s": seconds, "parameters": parameters}
    )


def cpu_s(process: psutil.Process) -> float:
    """Return the CPU seconds of a process until now, of all threads."""
    spent = process.cpu_times()
    return float(spent.user + spent.system)


@dataclass
class Running:
    """A client and a server with an agreed start."""

    folder: Path
    start: float
    server: Popen[bytes]
    client: Popen[bytes]

    def at(self, second: float) -> None:
        """Wait until this number of seconds after the start."""
        time.sleep(max(0.0, self.start + second - time.time()))

    @property
    def processes(self) -> list[psutil.Process]:
        """The processes of the client and the server."""
        return [psutil.Process(self.client.pid), psutil.Process(self.server.pid)]

    def finish(self, *, whole: bool) -> None:
        """End the load at once; or, if ``whole``, wait for its end and for the queues to drain."""
        if not whole:
            self.client.terminate()
        self._ended(self.client)
        if whole:
            time.sleep(1)
        (self.folder / "stop").touch()
        self._ended(self.server)

    def counts(self, label: str) -> CountsFile:
        """Return the counts of a process."""
        return read_counts(self.folder / f"{label}.counts")

    def _ended(self, process: Popen[bytes]) -> None:
        if code := process.wait(LIMIT_S):
            raise RuntimeError(f"a process of the generator ended with exit code {code}")


@contextmanager
def running(load_case: Case, access: Access, folder: Path) -> Iterator[Running]:
    """Start a client and a server, which begin at the next second; killed at the end."""
    tool = PROGRAM.ensure("amqp-0-9-1", LocalHost())
    job = LoadJob(
        load_case, folder.name, access, tool, pairs(load_case), folder, folder, "127.0.0.1"
    )
    with ExitStack() as stack:
        started = []
        for command in commands(job):
            for name, text in command.files.items():
                LocalHost().write(folder / name, text)
            process = Popen(command.argv, env=dict(command.env))
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
            await_((folder / f"{command.label}.ready").exists)
        start = float(int(time.time()) + 2)
        LocalHost().write(folder / "start", json.dumps({"start": start}))
        yield Running(folder, start, *started)


def await_(done: Callable[[], bool]) -> None:
    """Return when a condition holds; raise ``TimeoutError`` after ``LIMIT_S``."""
    limit = time.monotonic() + LIMIT_S
    while not done():
        if time.monotonic() > limit:
            raise TimeoutError(f"not ready within {LIMIT_S} s")
        time.sleep(0.05)


def measured(load_case: Case, access: Access, folder: Path, warmup_s: int) -> Measured:
    """Run a load; return its rate and CPU, from its warm-up to its end."""
    with running(load_case, access, folder) as load:
        load.at(warmup_s)
        before = sum(map(cpu_s, load.processes))
        load.at(load_case.duration_s)
        spent = sum(map(cpu_s, load.processes)) - before
        load.finish(whole=False)
        window = (load.start + warmup_s, load.start + load_case.duration_s)
        received = int(load.counts("server-1").streams["received"].by_finish(window).count.sum())
    return Measured(received / (load_case.duration_s - warmup_s), spent / received)
