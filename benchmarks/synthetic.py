"""Synthetic run folders, for measuring how reading them scales; no broker takes part.

The folders are written by ``mqperf.record`` as a real run's are; only the messages and CPU readings
in them are invented: Poisson-like arrivals at a fixed rate, gamma-distributed latencies.
"""

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from mqperf.onhost.load.simulator.recorder import Recorder
from mqperf.plan import Case
from mqperf.plan.test_cases import STANDARD
from mqperf.record import Attempt, messages
from mqperf.record.logs import psutil_log
from mqperf.record.outputs.simulator import Point, summed

START = 1_700_000_000
NODES = ("Master", "Slave 1", "Slave 2")
TOPOLOGIES, QUEUES = ("cmsm", "cs1ss2"), ("classic", "mirrored", "quorum")


@dataclass(frozen=True, slots=True)
class Load:
    """The load of one process of the load generator.

    Client and server of a pair have the same ``seed``, and so the same messages.
    """

    kind: str
    label: str
    start: float
    count: int
    seed: tuple[int, int]


def write_runs(
    folder: Path,
    count: int,
    *,
    duration_s: int = 100,
    rate: int = 500,
    loads: Sequence[tuple[int, int]] = ((1, 10), (2, 10), (5, 10), (10, 10)),
) -> None:
    """Write ``count`` complete runs: all points of a sweep, in as many repeats as needed.

    ``loads`` are pairs of client processes and green threads in each.
    """
    axes = list(product(TOPOLOGIES, QUEUES, STANDARD, loads))
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        topology, queues, test_case, (processes, threads) = axes[number % len(axes)]
        case = Case(
            system="rabbitmq",
            topology=topology,
            queues=queues,
            test_case=test_case,
            green_threads=threads,
            processes=processes,
            duration_s=duration_s,
            repeat=number // len(axes) + 1,
        )
        _write_run(folder, case, number + 1, rate)


def _write_run(folder: Path, case: Case, position: int, rate: int) -> None:
    attempt = Attempt(folder, case)
    load_start = START + position * 1000
    count = rate * case.load_s // case.processes
    loads = [
        Load(kind, f"{kind}-{pair}", load_start, count, (position, pair))
        for kind in ("client", "server")
        for pair in range(1, case.processes + 1)
    ]
    for load in loads:
        _write_load(attempt.folder / "load", case, load)
    kinds = dict.fromkeys(NODES, "broker") | {load.label: load.kind for load in loads}
    _write_probe(attempt.folder / "probes" / "local", kinds, load_start, case.load_s)
    begin = load_start + case.warmup_s
    attempt.facts |= {
        "position": position,
        "window": {"start": begin, "end": begin + case.duration_s},
        "clock_offsets_s": {"local": 0.0},
        "kinds": kinds,
        "hosts": [{"label": "local", "cores": 32, "os": "synthetic", "network": "loopback"}],
        "system": {"title": "RabbitMQ", "version": "0", "runtime": "synthetic"},
        "generator": {"oslo.messaging": "0", "python": "0"},
        "parameters": {"targets": "own", "payload_bytes": None, "pause_s": 0.0},
        "mqperf": "0",
        "processes": [
            {"label": load.label, "kind": load.kind, "exit_code": 0, "reported": True}
            for load in loads
        ],
    }
    attempt.event("synthetic")
    attempt.finish()


def _write_load(folder: Path, case: Case, load: Load) -> None:
    random = np.random.default_rng(load.seed)
    started = np.sort(load.start + random.random(load.count) * case.load_s)
    arrived = started + random.gamma(4, 0.001, load.count)
    finished = arrived + random.gamma(4, 0.001, load.count)
    header: dict[str, object] = {
        "format": messages.FORMAT,
        "version": messages.VERSION,
        "label": load.label,
        "kind": load.kind,
        "test_case": case.test_case,
    }
    recorder = Recorder(header, [])
    if load.kind == "server":
        recorder.streams = {"received": (array("d", started), array("d", arrived))}
    else:
        sent = array("d", started)
        recorder.streams = {"sent": (sent,), "error": (array("d"), array("d"))}
        if case.test_case == "rpc-call":
            recorder.streams["round_trip"] = (sent, array("d", finished))
    recorder.save(folder / f"{load.label}.messages")
    streams = recorder.streams
    names = {"sent": "client", "received": "server"}
    points = {names.get(n, n): _points(load, streams[n]) for n in streams}
    sums = {name: summed(seconds).model_dump(exclude_none=True) for name, seconds in points.items()}
    series = {
        "server" if load.kind == "server" else f"{name}_0": [
            point.model_dump(exclude_none=True) for point in seconds
        ]
        for name, seconds in points.items()
    }
    summary = sums["server"] if load.kind == "server" else sums
    text = json.dumps({"series": series, "summary": summary})
    (folder / f"{load.label}.json").write_text(text)


def _points(load: Load, columns: tuple["array[float]", ...]) -> list[Point]:
    """Return the simulator's counts of a stream, second by second."""
    instants = np.array(columns[-1])
    seconds = np.floor(instants - load.start).astype(int)
    order = np.argsort(seconds, kind="stable")
    latency = (instants - np.array(columns[0]))[order]
    ends = np.searchsorted(seconds[order], np.arange(seconds.max(initial=0) + 2))
    points = []
    for second, (first, last) in enumerate(pairwise(ends.tolist())):
        timed = latency[first:last] if len(columns) > 1 else latency[:0]
        times = (float(timed.mean()), float(timed.min()), float(timed.max())) if len(timed) else ()
        latencies = dict(zip(("latency", "min_latency", "max_latency"), times, strict=False))
        points.append(Point(timestamp=load.start + second + 1.0, count=last - first, **latencies))
    return points


def _write_probe(folder: Path, kinds: dict[str, str], start: float, seconds: int) -> None:
    folder.mkdir()
    lines = []
    for second in range(seconds + 1):
        used = 0.4 * second
        lines.append(
            json.dumps(
                {
                    "epoch": start + second,
                    "monotonic": float(second),
                    "processes": {label: [float(second), used, used / 3, 10**8] for label in kinds},
                    "host": [float(second), 1.5 * used * len(kinds), used],
                    "network": {
                        "at": float(second),
                        "bytes": {"lo": [10**6 * second, 10**6 * second], "eth0": [0, 0]},
                        "speeds": {"eth0": 125_000_000},
                        "segments": [1000 * second, second],
                    },
                }
            )
        )
    (folder / psutil_log.LOG).write_text("\n".join(lines) + "\n")
