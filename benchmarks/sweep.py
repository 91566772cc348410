"""Sweep efficiency and the harness's own share, from real sweeps of 15 points.

    ./noxw -s benchmarks -- sweep          # windows of 30 s
    ./noxw -s benchmarks -- sweep 3 8 100  # of these lengths, in seconds

Efficiency is the sum of the measured windows over the wall time of the whole command; the uses of
the remaining time are read from the events of the runs.  The harness is mqperf and its probe, in
per cent of one core during the windows.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from mqperf.study import tables

PLAN = """\
title: Sweep efficiency
systems: {{rabbitmq: {{topologies: [cmsm], queues: [classic]}}}}
load: {{green_threads: [1, 5, 10, 25, 50], duration_s: {}}}
"""
PHASES = ("start", "measured", "drained", "stopped")
MQPERF = (sys.executable, "-m", "mqperf", "run")


def main() -> None:
    """Run the sweeps and print where their time went."""
    for duration_s in sys.argv[1:] or ["30"]:
        with tempfile.TemporaryDirectory() as folder:
            swept(int(duration_s), Path(folder))


def swept(duration_s: int, folder: Path) -> None:
    """Run one sweep into a folder, and print where its time went."""
    plan, runs = folder / "sweep.yaml", folder / "runs"
    plan.write_text(PLAN.format(duration_s))
    began = time.monotonic()
    subprocess.run([*MQPERF, str(plan), "--runs", str(runs)], stdout=subprocess.DEVNULL, check=True)
    wall = time.monotonic() - began
    frames = tables.read(runs)
    measured = frames["runs"]["window_s"].sum()
    print(f"{measured:.0f} s measured / {wall:.1f} s wall = {measured / wall:.3f}")
    for line in spent(frames):
        print(line)
    for line in harness(frames):
        print(line)


def spent(frames: tables.Tables) -> list[str]:
    """Return lines with the median seconds from each event of a run to the next."""
    events = frames["events"].pivot_table(index="run", columns="what", values="time_s")
    steps = pairwise(PHASES)
    return [
        f"  {before} to {after}: {(events[after] - events[before]).median():.2f} s"
        for before, after in steps
    ]


def harness(frames: tables.Tables) -> list[str]:
    """Return a line with the share of one core that mqperf and its probe took in the windows."""
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
