"""Sweep efficiency and the harness's own share, from a real sweep of 15 points of 30 s.

    ./noxw -s benchmarks -- sweep

Efficiency is the sum of the measured windows over the wall time of the whole command; what the rest
was spent on is read from the events of the runs.  The harness is mqperf and its probe, in per cent
of one core during the windows.
"""

import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from rich.console import Console

from mqperf.front.progress import Bar
from mqperf.lab.runner import sweep
from mqperf.plan import LoadPlan, Plan, SystemPlan
from mqperf.study import tables

PHASES = ("start", "measured", "drained", "stopped")


def main() -> None:
    """Run the sweep and print where its time went."""
    plan = Plan(
        name="efficiency",
        title="Sweep efficiency",
        systems={"rabbitmq": SystemPlan(topologies=("cmsm",), queues=("classic",))},
        load=LoadPlan(green_threads=(1, 5, 10, 25, 50), duration_s=30),
    )
    with tempfile.TemporaryDirectory() as folder, Bar(Console()) as bar:
        began = time.monotonic()
        sweep(plan, "title: efficiency", Path(folder), bar)
        wall = time.monotonic() - began
        frames = tables.read(Path(folder))
    measured = frames["runs"]["window_s"].sum()
    print(f"{measured:.0f} s measured / {wall:.1f} s wall = {measured / wall:.3f}")
    for line in spent(frames):
        print(line)
    for line in harness(frames):
        print(line)


def spent(frames: tables.Tables) -> list[str]:
    """Median seconds from each event of a run to the next."""
    events = frames["events"].pivot_table(index="run", columns="what", values="time_s")
    steps = pairwise(PHASES)
    return [
        f"  {before} to {after}: {(events[after] - events[before]).median():.2f} s"
        for before, after in steps
    ]


def harness(frames: tables.Tables) -> list[str]:
    """The share of one core that mqperf and its probe took during the windows."""
    cpu = frames["cpu"]
    rows = cpu[(cpu["kind"] == "harness") & (cpu["scope"] == "window")]
    share = rows.groupby("run")["total_cores"].sum()
    return [
        f"harness: median {100 * share.median():.2f} %, largest {100 * share.max():.2f} %"
        f" of one core; by process: "
        + ", ".join(
            f"{name} {100 * statistics.median(group['total_cores']):.2f} %"
            for name, group in rows.groupby("process")
        )
    ]


if __name__ == "__main__":
    main()
