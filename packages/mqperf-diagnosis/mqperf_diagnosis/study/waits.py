"""The table ``waits``: what processes of a run did and waited for, over its window."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import mean
from typing import TYPE_CHECKING, Any

from mqperf.plan.columns import Table, text
from mqperf.record import CLOCK_STEP_LIMIT_S, Whole
from mqperf.study.probes import ProbeReader
from mqperf_diagnosis.record.waits_log import LOG, Process, Sample, SeenNode, samples
from mqperf_diagnosis.study.samples import in_window

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

COLLECTOR = re.compile(r"(GC Thread|G1 |ZGC|ZWorker|Shenandoah|VM Thread|Concurrent Mark)")
"""Names of HotSpot's threads that collect garbage, as `jstack` shows them."""

KINDS = ("queue", "channel", "connection")
"""Kinds of Erlang processes that are observed."""

Figure = tuple[str, str, str, float, str]
"""Process, object, quantity, value, unit."""


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """One row for each figure."""
    for host, within in in_window(reading.run, LOG, samples):
        names = ("process", "object", "quantity", "value", "unit")
        for figure in (*_kernel_figures(within), *_node_figures(within)):
            yield {"host": host, **dict(zip(names, figure, strict=True))}


def _kernel_figures(within: Sequence[Sample]) -> Iterator[Figure]:
    """Figures from kernel counters, between the first and the last sample of the window."""
    if len(within) < 2:
        return
    first, last = within[0], within[-1]
    duration = last.monotonic - first.monotonic
    for label, after in last.processes.items():
        if (before := first.processes.get(label)) is None or not after.threads:
            continue
        threads = {
            name: (used - _thread(before, name)[0], wait - _thread(before, name)[1])
            for name, (used, wait) in after.threads.items()
        }
        busiest = max(threads, key=lambda name: threads[name][0])
        collecting = [used for name, (used, _) in threads.items() if COLLECTOR.match(name)]
        yield label, "all", "used", sum(used for used, _ in threads.values()) / duration, "cores"
        yield label, "all", "waited", sum(wait for _, wait in threads.values()) / duration, "cores"
        name = busiest.partition("/")[0]
        yield label, name, "busiest thread", threads[busiest][0] / duration, "cores"
        if collecting:
            yield label, "collector", "used", sum(collecting) / duration, "cores"
        if after.written_bytes is not None and before.written_bytes is not None:
            written = after.written_bytes - before.written_bytes
            yield label, "disks", "written", written / duration, "bytes/s"
    for kind, stalled in last.pressure.items():
        if kind in first.pressure:
            yield "host", kind, "pressure", (stalled - first.pressure[kind]) / duration, ""


def _node_figures(within: Sequence[Sample]) -> Iterator[Figure]:
    """Figures of nodes, as means over the seconds in which they were observed."""
    seen: dict[str, list[SeenNode]] = defaultdict(list)
    synced: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for sample in within[1:]:  # the first one describes the time before the window
        for label, node in sample.nodes.items():
            if node.error is None and node.looks:
                seen[label].append(node)
                if node.sync_s is not None:
                    synced[label].append((sample.monotonic, node.sync_s))
    for label, nodes in seen.items():
        yield label, "node", "seconds seen", float(len(nodes)), "s"
        yield label, "node", "run queue", mean(node.run_queue for node in nodes), ""
        yield label, "node", "alarmed", mean(node.alarms > 0 for node in nodes), ""
        if len(times := synced[label]) > 1:
            (begin, before), (end, after) = times[0], times[-1]
            duration = max(1, round(end - begin))
            yield label, "disks", "synchronised", (after - before) / duration, ""
        for kind in KINDS:
            yield from _busiest_process(label, kind, nodes)
        yield from _queue_figures(label, nodes)


def _busiest_process(label: str, kind: str, nodes: Sequence[SeenNode]) -> Iterator[Figure]:
    """Figures of the process of a kind with work at most looks, chosen in each second."""
    seconds = [
        max(of_kind, key=lambda process: (process.running + process.runnable, process.waiting))
        for node in nodes
        if (of_kind := [process for process in node.processes if process.kind == kind])
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


def _queue_figures(label: str, nodes: Sequence[SeenNode]) -> Iterator[Figure]:
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
    """Clocks that were set, and counters that decrease although the process is the same."""
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
    """Labels of processes with a thread whose CPU time has decreased."""
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
    """Seconds of a thread on a core, and waiting for one; 0 for a thread that did not exist."""
    return process.threads.get(name, (0.0, 0.0))


READER = ProbeReader("waits", disagreements=disagreements)

TABLE = Table(
    name="waits",
    row="a figure of what a process, a node or a host did or waited for, over the window",
    own=(
        "host",
        text("process", "Label of the process or node; `host` for the whole host."),
        text("object", "Part of it: a thread, a queue, `all`, a kind of pressure.", "object"),
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
