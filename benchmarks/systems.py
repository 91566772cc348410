"""Cost of every system without a measurement: start, stop, memory; and the harness' share.

    ./noxw -s benchmarks -- systems

Start is the time until a system can be measured, stop the time until it is gone; both are medians
of five.  Memory is that of each node just after the start.  The harness is mqperf and its probe, in
per cent of one core, in the window of one CALL point of 10 s.
"""

import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems import SYSTEMS, Deployment, System
from mqperf.plan.file import parse_plan
from mqperf.study import tables

REPEATS = 5
PLAN = """\
systems: {{{}: {{topologies: [{}], queues: [{}]}}}}
test_cases: [rpc-call]
load: {{green_threads: 5, duration_s: 10}}
"""


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
    """Start and stop a system; return the cost."""
    host = LocalHost()
    with host.scratch("benchmark") as folder:
        began = time.monotonic()
        with system.start({}, [HostFolder(host, folder)]) as deployment:
            start_s = time.monotonic() - began
            rss = _memory_of(deployment)
            ended = time.monotonic()
    return Cost(start_s, time.monotonic() - ended, rss)


def _memory_of(deployment: Deployment) -> dict[str, int]:
    """Return the resident bytes of every node by its label."""
    nodes = cast("list[dict[str, str | int]]", deployment.facts()["nodes"])
    return {str(node["label"]): int(node["rss_bytes"]) for node in nodes}


def memory(costs: list[Cost]) -> str:
    """Return the median of every node's memory in MiB, as text."""
    return ", ".join(
        f"{label} {statistics.median(cost.rss_bytes[label] for cost in costs) / 2**20:.0f}"
        for label in costs[0].rss_bytes
    )


def harness(system: System) -> float:
    """Return the share of one core that mqperf and its probe take, in per cent."""
    text = PLAN.format(system.name, system.topologies[0], system.queues[0])
    with tempfile.TemporaryDirectory() as folder:
        sweep(parse_plan(text, Path("systems.yaml")), text, Path(folder), Silent())
        cpu = tables.read(Path(folder))["cpu"]
    rows = cpu[(cpu["kind"] == "harness") & (cpu["scope"] == "window")]
    return 100 * float(rows["total_cores"].sum())


if __name__ == "__main__":
    main()
