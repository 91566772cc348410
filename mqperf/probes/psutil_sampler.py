"""The psutil probe's program: CPU times of chosen processes and network traffic, once a second.

It runs as a process of its own, without importing mqperf, so that it can be copied to any host that
has psutil.  It reads cumulative counters at whole seconds after the agreed start, hence exactly at
both ends of the measured window, and writes one JSON line per sample::

    {"epoch": ..., "monotonic": ..., "processes": {label: [monotonic, user, system, rss]},
     "host": [monotonic, busy, system],
     "network": {"at": monotonic, "bytes": {interface: [sent, received]},
                 "speeds": {interface: bytes per second}, "segments": [sent, retransmitted]}}

The probe watches itself too, under its own label.  A process that is gone reads as null.  Speeds
are what the kernel knows: loopback and many virtual interfaces have none.  Segments are those of
TCP on the whole host; null where the kernel does not count them as Linux does.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import psutil

POLL_S = 0.05
TCP_COUNTERS = Path("/proc/net/snmp")
MEGABIT = 125_000


class Watched:
    """A process with the children it had when watching began."""

    def __init__(self, pid: int, *, children: bool) -> None:
        """Find the process; one that is gone already reads as null throughout."""
        try:
            root = psutil.Process(pid)
            self.family = [root, *(root.children(recursive=True) if children else [])]
        except psutil.NoSuchProcess:
            self.family = []

    def sample(self) -> list[float] | None:
        """When, user seconds, system seconds and resident bytes; None when the root is gone."""
        at = time.monotonic()
        readings = [_read(process) for process in self.family]
        if not readings or readings[0] is None:
            return None
        user, system, rss = (sum(c) for c in zip(*(r for r in readings if r), strict=True))
        return [at, user, system, rss]


def main(arguments: Sequence[str] | None = None) -> None:
    """Sample from the agreed start until the load's end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--label", required=True, help="what this process is called")
    parser.add_argument("--control", type=Path, required=True, help="folder of the start file")
    parser.add_argument("--targets", type=Path, required=True, help="JSON list of processes")
    parser.add_argument("--seconds", type=int, required=True, help="samples after the first")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    targets: list[dict[str, Any]] = json.loads(options.targets.read_text())
    (options.control / f"{options.label}.ready").touch()
    start = _await_start(options.control / "start")
    watched = {t["label"]: Watched(t["pid"], children=t["children"]) for t in targets}
    watched[options.label] = Watched(os.getpid(), children=False)
    speeds = _speeds()
    with options.out.open("w") as out:
        for second in range(options.seconds + 1):
            time.sleep(max(0.0, start + second - time.time()))
            _write_sample(out, watched, speeds)


def _await_start(file: Path) -> float:
    while not file.exists():
        time.sleep(POLL_S)
    return float(json.loads(file.read_text())["start"])


def _write_sample(out: TextIO, watched: dict[str, Watched], speeds: dict[str, int]) -> None:
    sample = {
        "epoch": time.time(),
        "monotonic": time.monotonic(),
        "processes": {label: process.sample() for label, process in watched.items()},
        "host": _host(),
        "network": {
            "at": time.monotonic(),
            "bytes": _bytes(),
            "speeds": speeds,
            "segments": _segments(),
        },
    }
    out.write(json.dumps(sample) + "\n")
    out.flush()


def _read(process: psutil.Process) -> tuple[float, float, int] | None:
    try:
        with process.oneshot():
            times = process.cpu_times()
            return times.user, times.system, process.memory_info().rss
    except psutil.Error:
        return None


def _host() -> list[float]:
    times = psutil.cpu_times()
    system = times.system + times.irq + times.softirq
    return [time.monotonic(), times.user + times.nice + system + times.steal, system]


def _speeds() -> dict[str, int]:
    interfaces = psutil.net_if_stats().items()
    return {name: known.speed * MEGABIT for name, known in interfaces if known.speed}


def _bytes() -> dict[str, list[int]]:
    counters = psutil.net_io_counters(pernic=True)
    return {name: [count.bytes_sent, count.bytes_recv] for name, count in counters.items()}


def _segments() -> list[int] | None:
    """TCP segments sent, and those of them that were retransmitted."""
    try:
        lines = TCP_COUNTERS.read_text().splitlines()
    except OSError:
        return None
    names, values = (line.split() for line in lines if line.startswith("Tcp:"))
    counted = dict(zip(names, values, strict=True))
    return [int(counted["OutSegs"]), int(counted["RetransSegs"])]


if __name__ == "__main__":
    main()
