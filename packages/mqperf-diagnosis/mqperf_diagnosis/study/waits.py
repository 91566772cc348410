"""The table of waits: what processes of a run did and waited for, over its window."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import mean
from typing import TYPE_CHECKING, Any

from mqperf.plan.columns import Table, text
from mqperf.record import CLOCK_STEP_LIMIT_S, Whole
from mqperf.study.probes import ProbeReader
from mqperf.study.probes.in_window import in_window
from mqperf_diagnosis.record.waits_log import LOG, Process, Sample, SeenNode, samples

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

COLLECTOR = re.compile(r"(GC Thread|G1 |ZGC|ZWorker|Shenandoah|VM Thread|Concurrent Mark)")
"""Threads of a Java that collect garbage, by their names: HotSpot's, which `jstack` shows."""

KINDS = ("queue", "channel", "connection")
"""Erlang processes of a node that are looked at."""

Figure = tuple[str, str, str, float, str]
"""Process, object, quantity, value, unit."""


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """One row for each figure."""
    for host, within in in_window(reading.run, LOG, samples):
        names = ("process", "object", "quantity", "value", "unit")
        for figure in (*_kernel(within), *_nodes(within)):
            yield {"host": host, **dict(zip(names, figure, strict=True))}


def _kernel(within: Sequence[Sample]) -> Iterator[Figure]:
    """What the kernel counted between the first and the last sample of the window."""
    if len(within) < 2:
        return
    first, last = within[0], within[-1]
    lasted = last.monotonic - first.monotonic
    for label, after in last.processes.items():
        if (before := first.processes.get(label)) is None or not after.threads:
            continue
        threads = {
            name: (used - _thread(before, name)[0], wait - _thread(before, name)[1])
            for name, (used, wait) in after.threads.items()
        }
        busiest = max(threads, key=lambda name: threads[name][0])
        collecting = [used for name, (used, _) in threads.items() if COLLECTOR.match(name)]
        yield label, "all", "used", sum(used for used, _ in threads.values()) / lasted, "cores"
        yield label, "all", "waited", sum(wait for _, wait in threads.values()) / lasted, "cores"
        name = busiest.partition("/")[0]
        yield label, name, "busiest thread", threads[busiest][0] / lasted, "cores"
        if collecting:
            yield label, "collector", "used", sum(collecting) / lasted, "cores"
        if after.written_bytes is not None and before.written_bytes is not None:
            written = after.written_bytes - before.written_bytes
            yield label, "disks", "written", written / lasted, "bytes/s"
    for kind, stalled in last.pressure.items():
        if kind in first.pressure:
            yield "host", kind, "pressure", (stalled - first.pressure[kind]) / lasted, ""


def _nodes(within: Sequence[Sample]) -> Iterator[Figure]:
    """What nodes were seen to do, on average over the seconds in which they were."""
    seen: dict[str, list[SeenNode]] = defaultdict(list)
    synced: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for sample in within[1:]:  # what the first one tells of was before the window
        for label, node in sample.nodes.items():
            if node.error is None and node.looks:
                seen[label].append(node)
                if node.sync_s is not None:
                    synced[label].append((sample.monotonic, node.sync_s))
    for label, nodes in seen.items():
        yield label, "node", "seconds seen", float(len(nodes)), "s"
        yield label, "node", "run queue", mean(node.run_queue for node in nodes), ""
        yield label, "node", "alarmed", mean(node.alarms > 0 for node in nodes), ""
        if len(counted := synced[label]) > 1:
            (begin, before), (end, after) = counted[0], counted[-1]
            lasted = max(1, round(end - begin))
            yield label, "disks", "synchronised", (after - before) / lasted, ""
        for kind in KINDS:
            yield from _busiest(label, kind, nodes)
        yield from _queues(label, nodes)


def _busiest(label: str, kind: str, nodes: Sequence[SeenNode]) -> Iterator[Figure]:
    """The process of a kind that was working at most looks, second by second."""
    seconds = [
        max(alike, key=lambda process: (process.running + process.runnable, process.waiting))
        for node in nodes
        if (alike := [process for process in node.processes if process.kind == kind])
    ]
    if not seconds:
        return
    looks, name = (
        nodes[0].looks,
        max((process.name for process in seconds), key=[p.name for p in seconds].count),
    )
    thing = name or kind
    for quantity in ("running", "runnable", "held"):
        shares = (getattr(process, quantity) / looks for process in seconds)
        yield label, thing, f"{kind} {quantity}", mean(shares) * len(seconds) / len(nodes), ""
    yield label, thing, f"{kind} mailbox", mean(p.waiting / looks for p in seconds), "msg"


def _queues(label: str, nodes: Sequence[SeenNode]) -> Iterator[Figure]:
    by_name: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for node in nodes:
        for queue in node.queues:
            by_name[queue.name].append((queue.ready, queue.unacked, queue.consumers))
    for name, counts in by_name.items():
        ready, unacked, consumers = (mean(column) for column in zip(*counts, strict=True))
        yield label, name, "ready", ready, "msg"
        yield label, name, "unacked", unacked, "msg"
        yield label, name, "consumers", consumers, ""


def disagreements(run: Whole) -> Iterator[str]:
    """Clocks that were set, and counters that fall while a process is the same."""
    for file in sorted(run.run.path.glob(f"probes/*/{LOG}")):
        name, log = file.relative_to(run.run.path), [*samples(file)]
        offsets = [sample.epoch - sample.monotonic for sample in log]
        if offsets and (step_s := max(offsets) - min(offsets)) > CLOCK_STEP_LIMIT_S:
            yield f"{name}: the wall clock was set by {step_s:.3f} s during the load"
        for before, after in pairwise(log):
            earlier = before.pressure
            fallen = [kind for kind, s in after.pressure.items() if s < earlier.get(kind, 0.0)]
            if fallen := [*fallen, *_fallen(before, after)]:
                yield f"{name}: {', '.join(fallen)} counts backwards"
                break


def _fallen(before: Sample, after: Sample) -> list[str]:
    """Processes a thread of which has used less than before."""
    return [
        label
        for label, process in after.processes.items()
        if label in before.processes
        and any(
            used < _thread(before.processes[label], name)[0]
            for name, (used, _) in process.threads.items()
        )
    ]


def _thread(process: Process, name: str) -> tuple[float, float]:
    """Seconds on a core, and of wait for one; of a thread that was not there yet none."""
    return process.threads.get(name, (0.0, 0.0))


READER = ProbeReader("waits", disagreements=disagreements)

TABLE = Table(
    name="waits",
    row="a figure of what a process, a node or a host did or waited for, over the window",
    own=(
        "host",
        text("process", "Label of the process or node; `host` for the whole host."),
        text("object", "What of it: a thread, a queue, `all`, a kind of pressure.", "object"),
        text(
            "quantity",
            "used, waited (cores on which threads ran, and for which they waited); busiest thread;"
            " written; pressure (share of the window in which some task stood still for want of"
            " it); running, runnable, held, mailbox of the busiest Erlang process of a kind;"
            " synchronised (share of the window in calls of fsync); alarmed; ready, unacked.",
            "quantity",
        ),
        "value",
        "unit",
    ),
    rows=rows,
)
