"""The psutil probe's program: CPU of chosen processes, network and memory, once a second.

It runs as a process of its own, on any host that has psutil.  It reads cumulative counters at whole
seconds after the agreed start, hence exactly at both ends of the measured window, and writes one
JSON line per sample::

    {"epoch": ..., "monotonic": ..., "processes": {label: [monotonic, user, system, rss]},
     "host": [monotonic, busy, system, stolen],
     "network": {"at": monotonic, "bytes": {interface: [sent, received]},
                 "speeds": {interface: bytes per second},
                 "segments": [sent, retransmitted, needless]},
     "memory": [bytes, available, swapped in, swapped out],
     "yardstick_s": CPU seconds of a fixed piece of work}

The probe samples itself too, under its own label.  A process that has ended reads as null, and so
does, once, a process that replaces another one under its label in the list of targets.  Speeds are
those known to the kernel: loopback and many virtual interfaces have none.  Segments are those of
TCP on the whole host; null where the kernel does not count them as Linux does.  Needless are those
that had arrived already, by the receiver's duplicate SACK (RFC 2883): where receivers wait for a
core, much is retransmitted that was never lost.  Not every Linux counts them.  Memory is the
host's; swapping counts from its boot.  Stolen is the part of busy in which a hypervisor ran
something else; it is 0 where the kernel does not know it.
"""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import psutil

from mqperf.onhost.probes import sampling, yardstick

TCP_COUNTERS, MORE_TCP_COUNTERS = Path("/proc/net/snmp"), Path("/proc/net/netstat")
MEGABIT = 125_000


class Watched:
    """A process, with the descendants that it had at first, or with the children that it reaped.

    The last reading of a child still counts after its end, so that the sum never falls.
    """

    def __init__(self, pid: int, *, children: bool) -> None:
        """Find the process; one that has ended already reads as null throughout."""
        try:
            root = psutil.Process(pid)
            self.family = [root, *(root.children(recursive=True) if children else [])]
            self.ended = not children
        except psutil.NoSuchProcess:
            self.family, self.ended = [], False
        self.last = [(0.0, 0.0, 0)] * len(self.family)

    def sample(self) -> list[float] | None:
        """Return time, user and system seconds, resident bytes; None when the root has ended."""
        at = time.monotonic()
        readings = [_read(process, ended=self.ended) for process in self.family]
        if not readings or readings[0] is None:
            return None
        self.last = [
            reading or (user, system, 0)
            for reading, (user, system, _) in zip(readings, self.last, strict=True)
        ]
        user, system, rss = (sum(values) for values in zip(*self.last, strict=True))
        return [at, user, system, rss]


class Targets:
    """The file with the list of processes; it is rewritten when one of them was restarted."""

    def __init__(self, file: Path) -> None:
        """Read the file for the first time."""
        self.file = file
        self.modified_ns = file.stat().st_mtime_ns
        self.pids = {target["label"]: target["pid"] for target in self.now()}

    def now(self) -> list[dict[str, Any]]:
        """Return the current list."""
        targets: list[dict[str, Any]] = json.loads(self.file.read_text())
        return targets

    def renewed(self) -> list[dict[str, Any]]:
        """Return the targets whose pid has changed since the last call."""
        if (modified_ns := self.file.stat().st_mtime_ns) == self.modified_ns:
            return []
        self.modified_ns = modified_ns
        changed = [target for target in self.now() if self.pids[target["label"]] != target["pid"]]
        self.pids |= {target["label"]: target["pid"] for target in changed}
        return changed


class Processors:
    """The processors of this machine, all together.

    Their use is the time in which they were not idle, stolen or not.  Most kernels measure that
    exactly, but attribute it to user or system time by sampling at ticks, which counts a process
    that sleeps until the next tick five times too often, or never.
    """

    def __init__(self) -> None:
        """Start with nothing used."""
        self._used = self._system = self._stolen = 0.0
        self._before = self._counters()

    def sample(self) -> list[float]:
        """Return the time, and cumulative seconds used: all, and their system and stolen parts."""
        now = at, idle, system, stolen = self._counters()
        at_before, idle_before, system_before, stolen_before = self._before
        used = max(0.0, (at - at_before) * (psutil.cpu_count() or 1) - (idle - idle_before))
        self._used += used
        self._system += min(used, max(0.0, system - system_before))
        self._stolen += min(used, max(0.0, stolen - stolen_before))
        self._before = now
        return [at, self._used, self._system, self._stolen]

    def _counters(self) -> tuple[float, float, float, float]:
        """Return the time, and cumulative idle, system and stolen seconds."""
        times, at = psutil.cpu_times(), time.monotonic()
        system = times.system + times.irq + times.softirq
        return at, times.idle + times.iowait, system, times.steal


def main(arguments: Sequence[str] | None = None) -> None:
    """Sample from the agreed start until the load's end."""
    options = sampling.parsed(arguments)
    targets, control = Targets(options.targets), options.talk
    control.say("ready")
    start = control.wait_for_start()
    watched = {target["label"]: _watched(target) for target in targets.now()}
    watched[options.label] = Watched(os.getpid(), children=False)
    speeds, processors = _speeds(), Processors()
    with options.out.open("w") as out:
        for _ in sampling.each_second(control, start, options.seconds):
            renewed = {target["label"]: _watched(target) for target in targets.renewed()}
            watched |= renewed
            _write_sample(out, watched, [*renewed], processors, speeds)


def _watched(target: dict[str, Any]) -> Watched:
    return Watched(target["pid"], children=target["children"])


def _write_sample(
    out: TextIO,
    watched: dict[str, Watched],
    renewed: Sequence[str],
    processors: Processors,
    speeds: dict[str, int],
) -> None:
    sample = {
        "epoch": time.time(),
        "monotonic": time.monotonic(),
        "processes": {
            label: None if label in renewed else process.sample()
            for label, process in watched.items()
        },
        "host": processors.sample(),
        "network": {
            "at": time.monotonic(),
            "bytes": _bytes(),
            "speeds": speeds,
            "segments": _segments(),
        },
        "memory": _memory(),
        "yardstick_s": yardstick.cpu_s(),
    }
    out.write(json.dumps(sample) + "\n")
    out.flush()


def _read(process: psutil.Process, *, ended: bool) -> tuple[float, float, int] | None:
    try:
        with process.oneshot():
            times = process.cpu_times()
            user, system = times.user, times.system
            if ended:  # children that it has waited for
                user, system = user + times.children_user, system + times.children_system
            return user, system, process.memory_info().rss
    except psutil.Error:
        return None


def _speeds() -> dict[str, int]:
    interfaces = psutil.net_if_stats().items()
    return {name: interface.speed * MEGABIT for name, interface in interfaces if interface.speed}


def _bytes() -> dict[str, list[int]]:
    counters = psutil.net_io_counters(pernic=True)
    return {name: [count.bytes_sent, count.bytes_recv] for name, count in counters.items()}


def _memory() -> list[int]:
    """Return total and available bytes of memory, and those swapped in and out so far."""
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return [memory.total, memory.available, swap.sin, swap.sout]


def _segments() -> list[int] | None:
    """Return TCP segments sent, retransmitted, and, if counted, retransmitted needlessly."""
    try:
        tcp = _counters(TCP_COUNTERS, "Tcp:")
        extended = _counters(MORE_TCP_COUNTERS, "TcpExt:")
        sent = [tcp["OutSegs"], tcp["RetransSegs"]]
    except (OSError, KeyError):
        return None
    needless = [extended[name] for name in ("TCPDSACKRecvSegs",) if name in extended]
    return [*sent, *needless]


def _counters(file: Path, prefix: str) -> dict[str, int]:
    """Return counters by name, from the two lines with this prefix: their names and their values.

    The result is empty where a kernel leaves a line out, as gVisor does.
    """
    lines = [line.split()[1:] for line in file.read_text().splitlines() if line.startswith(prefix)]
    names, values = lines if len(lines) == 2 else ([], [])
    return dict(zip(names, map(int, values), strict=True))


if __name__ == "__main__":
    main()
