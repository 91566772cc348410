"""The probe of waits: samples once a second what processes did and waited for.

It runs on any Linux host, reads the kernel's counters of each thread, and observes nodes of
RabbitMQ from outside.  It writes one JSON line per sample, at whole seconds after the start::

    {"epoch": ..., "monotonic": ...,
     "processes": {label: {"threads": {name/id: [seconds on a core, seconds of wait for one]},
                           "written_bytes": ...}},
     "pressure": {"cpu": seconds, "io": seconds, "memory": seconds},
     "nodes": {label: its state, or "error"}}

Counters start with the process, or with the machine, and are left out where they cannot be read.
``pressure`` is the time in which some task was stalled for lack of the resource, by
``/proc/pressure``.  The state of a node is observed between two samples, and is in the second one.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from mqperf.onhost.probes import sampling
from mqperf_diagnosis.onhost.erlang import ErlangNode, is_node

LEAST_S = 0.01
"""Threads with less time in all, on a core and waiting for one, are left out."""

NANOSECONDS = 1e9


class Watched:
    """A watched process; the names of its threads are read only once."""

    def __init__(self, pid: int) -> None:
        self.proc = Path(f"/proc/{pid}")
        self.names: dict[str, str] = {}

    def sample(self) -> dict[str, Any]:
        """The kernel's counters of the process; none if it has ended."""
        counted: dict[str, Any] = {"threads": {}}
        with suppress(OSError):
            for thread in os.scandir(self.proc / "task"):
                with suppress(OSError, ValueError):  # it has ended
                    used, waited, _ = Path(thread.path, "schedstat").read_text().split()
                    times = [int(used) / NANOSECONDS, int(waited) / NANOSECONDS]
                    if sum(times) >= LEAST_S:
                        counted["threads"][self._name(thread)] = times
        with suppress(OSError, ValueError):
            lines = (self.proc / "io").read_text().splitlines()
            counters = dict(line.split(": ") for line in lines)
            counted["written_bytes"] = int(counters["write_bytes"])
        return counted

    def _name(self, thread: "os.DirEntry[str]") -> str:
        if thread.name not in self.names:
            name = Path(thread.path, "comm").read_text().strip()
            self.names[thread.name] = f"{name}/{thread.name}"
        return self.names[thread.name]


class Observation:
    """Observes a node for a second, in a thread beside the samples."""

    def __init__(self, node: ErlangNode) -> None:
        self.node = node
        self.seen: Mapping[str, Any] = {}
        self.thread = Thread(target=self.observe, daemon=True)
        self.thread.start()

    def observe(self) -> None:
        """Observe the node once."""
        self.seen = self.node.state()


def main(arguments: Sequence[str] | None = None) -> None:
    """Sample from the agreed start until the load's end."""
    options = sampling.parsed(arguments)
    targets: list[dict[str, Any]] = json.loads(options.targets.read_text())
    processes = {target["label"]: Watched(target["pid"]) for target in targets}
    nodes = {
        target["label"]: ErlangNode(target["pid"])
        for target in targets
        if target["kind"] == "broker" and is_node(target["pid"])
    }
    options.talk.say("ready")
    start = options.talk.wait_for_start()
    running: dict[str, Observation] = {}
    with options.out.open("w") as out:
        for _ in sampling.each_second(options.talk, start, options.seconds):
            line = {
                "epoch": time.time(),
                "monotonic": time.monotonic(),
                "processes": {label: process.sample() for label, process in processes.items()},
                "pressure": _pressure(),
                "nodes": _finished(running),
            }
            out.write(json.dumps(line) + "\n")
            out.flush()
            for label, node in nodes.items():
                if label not in running:
                    running[label] = Observation(node)


def _finished(running: dict[str, Observation]) -> dict[str, Mapping[str, Any]]:
    """Remove the observations that have finished, and return their results."""
    ended = [label for label, observation in running.items() if not observation.thread.is_alive()]
    return {label: running.pop(label).seen for label in ended}


def _pressure() -> dict[str, float]:
    """Seconds of each kind of pressure, without those that the kernel does not count."""
    stalled = {}
    for kind in ("cpu", "io", "memory"):
        with suppress(OSError, ValueError, IndexError):
            text = Path("/proc/pressure", kind).read_text()
            stalled[kind] = int(text.splitlines()[0].rpartition("total=")[2]) / 1e6
    return stalled


if __name__ == "__main__":
    main()
