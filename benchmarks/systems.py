"""What every system costs before anything is measured: start, stop, memory; and the harness' share.

    ./noxw -s benchmarks -- systems

Start is the time until a system may be measured, stop until nothing of it is left; both are medians
of five.  Memory is that of each node just after the start.  The harness is mqperf and its probe, in
per cent of one core, in the window of one CALL point of 10 s.
"""

import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems import SYSTEMS, System
from mqperf.plan import LoadPlan, Plan, SystemPlan
from mqperf.study import tables

REPEATS = 5


@dataclass(frozen=True, slots=True)
class Cost:
    """One start and stop, and the memory of the nodes in between."""

    start_s: float
    stop_s: float
    rss_bytes: dict[str, int]


def main() -> None:
    """Measure the systems named on the command line, or all of them."""
    print(f"{'system':12} {'start, s':>8} {'stop, s':>8} {'harness, %':>10}  memory per node, MiB")
    for name in sys.argv[1:] or SYSTEMS:
        system = SYSTEMS[name]
        costs = [once(system) for _ in range(REPEATS)]
        start = statistics.median(cost.start_s for cost in costs)
        stop = statistics.median(cost.stop_s for cost in costs)
        print(f"{name:12} {start:8.1f} {stop:8.1f} {harness(system):10.2f}  {memory(costs)}")


def once(system: System) -> Cost:
    """Start and stop a system."""
    host = LocalHost()
    with host.scratch("benchmark") as folder:
        began = time.monotonic()
        with system.start({}, [HostFolder(host, folder)]) as deployment:
            start_s = time.monotonic() - began
            rss = {node["label"]: node["rss_bytes"] for node in deployment.facts()["nodes"]}
            ended = time.monotonic()
    return Cost(start_s, time.monotonic() - ended, rss)


def memory(costs: list[Cost]) -> str:
    """The median of every node's memory."""
    return ", ".join(
        f"{label} {statistics.median(cost.rss_bytes[label] for cost in costs) / 2**20:.0f}"
        for label in costs[0].rss_bytes
    )


def harness(system: System) -> float:
    """The share of one core that mqperf and its probe take, in per cent."""
    wanted = SystemPlan(topologies=system.topologies[:1], queues=system.queues[:1])
    load = LoadPlan(green_threads=(5,), duration_s=10)
    plan = Plan(
        name="systems", title="", systems={system.name: wanted}, test_cases=("rpc-call",), load=load
    )
    with tempfile.TemporaryDirectory() as folder:
        sweep(plan, "title: systems", Path(folder), Silent())
        cpu = tables.read(Path(folder))["cpu"]
    rows = cpu[(cpu["kind"] == "harness") & (cpu["scope"] == "window")]
    return 100 * float(rows["total_cores"].sum())


if __name__ == "__main__":
    main()
