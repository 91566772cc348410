"""The generator amqp-0-9-1 compared with RabbitMQ's PerfTest, and its cost without a broker.

    ./noxw -s benchmarks -- stressor [PAIRS [LOAD]...]

On one private RabbitMQ, in pairs with alternating order: messages received per second, and the CPU
seconds (user and system) of the generators' processes per message, both after a warm-up in which
Java compiles.  Then 20,000 messages of 256 bytes a second for a minute, without a broker: between
publisher and consumer is a forwarder, whose time is in their latency.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stressing import load, perftest
from stressing.load import Measured

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.rabbitmq.private import PrivateCluster, private_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings

PAIRS = 5
WARMUP_S, SECONDS = 5, 12
"""Begin and end of the window, in seconds from the start of the load."""

RATE, PACED_S = 20_000, 60
EARLY_S = 10


@dataclass(frozen=True, slots=True)
class Rival:
    """A load, as parameters of the generator and as arguments of PerfTest."""

    name: str
    parameters: dict[str, object]
    arguments: Sequence[str]
    threads: int = 1


def _rivals() -> list[Rival]:
    single = ("--producers", "1", "--consumers", "1", "--size", "256")
    fifty = ("--producers", "50", "--consumers", "50", "--size", "256")
    own_queues = ("--queue-pattern", "q-%d", "--queue-pattern-from", "1", "--queue-pattern-to")
    return [
        Rival("256 B", {}, [*single, "--autoack"]),
        Rival("confirms", {"confirms": 1000}, [*single, "--autoack", "--confirm", "1000"]),
        Rival("acks", {"acks": "each", "prefetch": 1000}, [*single, "--qos", "1000"]),
        Rival(
            "50 connections",
            {},
            [*fifty, "--autoack", *own_queues, "50"],
            threads=50,
        ),
        Rival("10 kB", {"payload_bytes": 10_000}, [*single[:-1], "10000", "--autoack"]),
    ]


def main(arguments: list[str]) -> None:
    """Print every pair and the medians of all loads, or of named ones, and the paced load."""
    pairs, names = int(arguments[0]) if arguments else PAIRS, arguments[1:]
    perftest.class_path()
    host = LocalHost()
    with (
        host.scratch("stressor") as folder,
        private_cluster(Settings(), [HostFolder(host, folder)]) as cluster,
    ):
        for rival in _rivals():
            if not names or rival.name in names:
                compare(rival, cluster, pairs)
    if not names or "paced" in names:
        paced()


def compare(rival: Rival, cluster: PrivateCluster, pairs: int) -> None:
    """Print the pairs of one load, and their medians."""
    results: list[tuple[Measured, Measured]] = []
    for number in range(pairs):
        order = (ours, theirs) if number % 2 == 0 else (theirs, ours)
        both = {run: run(rival, cluster, f"pair{number}") for run in order}
        our, their = both[ours], both[theirs]
        results.append((our, their))
        print(
            f"  {rival.name}: {our.msg_s:.0f} and {their.msg_s:.0f} msg/s,"
            f" {our.cpu_s * 1e6:.2f} and {their.cpu_s * 1e6:.2f} us of CPU a message",
            flush=True,
        )
    rate = statistics.median(our.msg_s / their.msg_s for our, their in results)
    cpu = statistics.median(our.cpu_s / their.cpu_s for our, their in results)
    print(f"{rival.name}: {rate:.2f} of PerfTest's rate, {cpu:.3f} of its CPU", flush=True)


def ours(rival: Rival, cluster: PrivateCluster, key: str) -> Measured:
    """Measure the generator amqp-0-9-1."""
    case = load.case(rival.parameters, rival.threads, SECONDS)
    with tempfile.TemporaryDirectory(prefix=f"{key}-") as name:
        access = cluster.provision(case, key)
        try:
            return load.measured(case, access, Path(name), WARMUP_S)
        finally:
            cluster.clean_up(key, ())


def theirs(rival: Rival, cluster: PrivateCluster, key: str) -> Measured:
    """Measure PerfTest, also in a virtual host of its own."""
    case = load.case(rival.parameters, rival.threads, SECONDS)
    access = cluster.provision(case, key)
    try:
        url = access.client.url("amqp")
        return perftest.measured(url, rival.arguments, WARMUP_S, SECONDS)
    finally:
        cluster.clean_up(key, ())


def paced() -> None:
    """Print how well a rate is kept without a broker, and the CPU and memory for it."""
    case = load.case({"rate_msg_s": float(RATE)}, 1, PACED_S)
    with tempfile.TemporaryDirectory(prefix="paced-") as name, forwarder(Path(name)) as port:
        end = Endpoint("amqp-0-9-1", (f"127.0.0.1:{port}",), "nobody", "", "/")
        with load.running(case, Access(end, end), Path(name)) as running:
            running.at(EARLY_S)
            early = [process.memory_info().rss for process in running.processes]
            running.at(PACED_S - 1)
            late = [process.memory_info().rss for process in running.processes]
            spent = [load.cpu_s(process) for process in running.processes]
            running.finish(whole=True)
            client, server = running.counts("client-1"), running.counts("server-1")
            window = (running.start, running.start + PACED_S)
    sent, received = client.streams["sent"].count, server.streams["received"]
    print(f"{sent} of {RATE * PACED_S} sent: {100 * (sent / RATE / PACED_S - 1):+.4f} %")
    for title, stream in (
        ("late at the publisher", client.streams["handover"]),
        ("latency", received),
    ):
        values = 1e3 * stream.started_in(window).quantiles_s([0.5, 0.99, 0.999])
        print(f"{title}, with the forwarder: p50, p99, p99.9 {values.round(3)} ms")
    for title, index in (("publisher", 0), ("consumer", 1)):
        print(
            f"{title}: {spent[index] / sent * 1e6:.1f} us of CPU a message; memory after"
            f" {EARLY_S} and {PACED_S - 1} s {early[index] >> 10} and {late[index] >> 10} KiB"
        )


@contextmanager
def forwarder(folder: Path) -> Iterator[int]:
    """Run a forwarder within the context; yield its port."""
    file = folder / "port"
    argv = [sys.executable, "-m", "stressing.forwarder", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(argv, env=environment)
    try:
        load.await_(file.exists)
        yield int(file.read_text())
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
