"""The probe of waits: what chosen processes did and waited for, once a second.

It runs on any Linux host, reads what the kernel counts of each thread, and looks at nodes of
RabbitMQ from outside.  It writes one JSON line per sample, at whole seconds after the start::

    {"epoch": ..., "monotonic": ...,
     "processes": {label: {"threads": {name/id: [seconds on a core, seconds of wait for one]},
                           "written_bytes": ...}},
     "pressure": {"cpu": seconds, "io": seconds, "memory": seconds},
     "nodes": {label: what it was seen to do, or "error"}}

All of it counts from the process's start, or that of the machine, and stands in the line only where
it could be read.  ``pressure`` is the time in which some task stood still for want of that, by
``/proc/pressure``.  A node is looked at between two samples, and tells of the second before.
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
"""Threads that have used and waited for less in all are left out."""

NANOSECONDS = 1e9


class Watched:
    """A process, whose threads are named once."""

    def __init__(self, pid: int) -> None:
        self.place = Path(f"/proc/{pid}")
        self.names: dict[str, str] = {}

    def sample(self) -> dict[str, Any]:
        """What the kernel counts of it; nothing of one that is gone."""
        counted: dict[str, Any] = {"threads": {}}
        with suppress(OSError):
            for thread in os.scandir(self.place / "task"):
                with suppress(OSError, ValueError):  # it has ended
                    used, waited, _ = Path(thread.path, "schedstat").read_text().split()
                    times = [int(used) / NANOSECONDS, int(waited) / NANOSECONDS]
                    if sum(times) >= LEAST_S:
                        counted["threads"][self._name(thread)] = times
        with suppress(OSError, ValueError):
            lines = (self.place / "io").read_text().splitlines()
            counters = dict(line.split(": ") for line in lines)
            counted["written_bytes"] = int(counters["write_bytes"])
        return counted

    def _name(self, thread: "os.DirEntry[str]") -> str:
        if thread.name not in self.names:
            name = Path(thread.path, "comm").read_text().strip()
            self.names[thread.name] = f"{name}/{thread.name}"
        return self.names[thread.name]


class Looking:
    """Looks at a node for a second, beside the samples."""

    def __init__(self, node: ErlangNode) -> None:
        self.node = node
        self.seen: Mapping[str, Any] = {}
        self.thread = Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self) -> None:
        """Look once."""
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
    looking: dict[str, Looking] = {}
    with options.out.open("w") as out:
        for _ in sampling.each_second(options.talk, start, options.seconds):
            line = {
                "epoch": time.time(),
                "monotonic": time.monotonic(),
                "processes": {label: process.sample() for label, process in processes.items()},
                "pressure": _pressure(),
                "nodes": _seen(looking),
            }
            out.write(json.dumps(line) + "\n")
            out.flush()
            for label, node in nodes.items():
                if label not in looking:
                    looking[label] = Looking(node)


def _seen(looking: dict[str, Looking]) -> dict[str, Mapping[str, Any]]:
    """What those saw that have finished; they are forgotten."""
    ended = [label for label, look in looking.items() if not look.thread.is_alive()]
    return {label: looking.pop(label).seen for label in ended}


def _pressure() -> dict[str, float]:
    """Seconds of each kind of pressure; nothing where the kernel does not count it."""
    stalled = {}
    for kind in ("cpu", "io", "memory"):
        with suppress(OSError, ValueError, IndexError):
            text = Path("/proc/pressure", kind).read_text()
            stalled[kind] = int(text.splitlines()[0].rpartition("total=")[2]) / 1e6
    return stalled


if __name__ == "__main__":
    main()
