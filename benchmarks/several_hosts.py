"""A sweep on several hosts compared with one on this machine: starts, points, harness, software.

    ./noxw -s benchmarks -- several_hosts [ROUNDS]

Every round does both, in alternating order; printed are medians.  The hosts are those of a
laboratory, which share this machine: it needs root.
"""

import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from mqperf.hosts import HOSTS, HostFolder, Hosts
from mqperf.lab.load import LAUNCHERS, Tool
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.phases import begin
from mqperf.lab.runner.trial import Audience
from mqperf.lab.systems import SYSTEMS
from mqperf.plan import Case
from mqperf.study import tables

SYSTEM, LAUNCHER = SYSTEMS["rabbitmq"], LAUNCHERS["simulator"]
KINDS = ("local", "laboratory")
POINTS = 3
CASE = Case(
    system="rabbitmq",
    topology="cs1ss2",
    queues="classic",
    test_case="rpc-call",
    green_threads=2,
    duration_s=10,
)

Seconds = dict[tuple[str, str], list[float]]
"""Values by figure and kind of hosts."""


def main(arguments: list[str]) -> None:
    """Print the median of every figure for both kinds, and how they differ."""
    rounds = int(arguments[0]) if arguments else 3
    figures: Seconds = defaultdict(list)
    for number in range(rounds):
        for kind in KINDS if number % 2 == 0 else reversed(KINDS):
            for figure, value in measured(kind):
                figures[figure, kind].append(value)
                print(f"  round {number + 1}, {kind}: {figure} {value:.3f}", flush=True)
    for figure in dict.fromkeys(figure for figure, _ in figures):
        here, several = (
            statistics.median(figures[figure, kind]) for kind in KINDS if (figure, kind) in figures
        )
        print(f"{figure}: {here:.3f} here, {several:.3f} on several hosts, {several - here:+.3f}")


def measured(kind: str) -> Iterator[tuple[str, float]]:
    """Yield the times of a sweep's phases, from the connection on."""
    with ExitStack() as stack:
        began = time.perf_counter()
        hosts = stack.enter_context(HOSTS[kind].reached())
        yield "hosts reached, s", time.perf_counter() - began
        began = time.perf_counter()
        tools = on_all(hosts)
        yield "software there, s", time.perf_counter() - began
        began = time.perf_counter()
        on_all(hosts)
        yield "software again, s", time.perf_counter() - began
        began = time.perf_counter()
        bench = stack.enter_context(started(hosts, tools))
        yield "cluster ready, s", time.perf_counter() - began
        for number in range(1, POINTS + 1):
            yield from of_point(bench, CASE.model_copy(update={"repeat": number}))


def on_all(hosts: Hosts) -> dict[str, Tool]:
    """Install the load generator on every host that needs it."""
    places = {host.name: host for host in (*hosts.client, *hosts.server)}
    driver = SYSTEM.drivers[LAUNCHER.name]
    return {name: LAUNCHER.tool(driver, host) for name, host in places.items()}


@contextmanager
def started(hosts: Hosts, tools: dict[str, Tool]) -> Iterator[Bench]:
    """Run the cluster on the broker hosts."""
    with ExitStack() as stack:
        host_folders = [
            HostFolder(host, stack.enter_context(host.scratch("bench"))) for host in hosts.broker
        ]
        deployment = stack.enter_context(SYSTEM.start({}, host_folders))
        facts = {"system": {}, "hosts": [host.facts() for host in hosts.every]}
        yield Bench(hosts, deployment, {LAUNCHER.name: tools}, facts)


def of_point(bench: Bench, case: Case) -> Iterator[tuple[str, float]]:
    """Yield how much longer a point takes than its load, and the harness on the busiest host."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        begun = begin(case, 1, Path(folder), bench, Audience(lambda _: None))
        with closing(begun.trial):
            measured = begun.agree().measure()
            measured.drain()
            measured.conclude()
        yield "point beyond its load, s", time.perf_counter() - began - case.load_s
        cpu = tables.read(Path(folder))["cpu"].query("scope == 'window' and kind == 'harness'")
        used = cpu.groupby("host")["total_cores"].sum()
        yield "harness on the busiest host, cores", float(used.max())


if __name__ == "__main__":
    main(sys.argv[1:])
