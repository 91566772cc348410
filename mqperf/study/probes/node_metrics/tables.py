"""The probe ``inside`` and its tables: metrics that nodes report, over time and in total."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.base.errors import ProbeError
from mqperf.base.packages import package_of
from mqperf.plan.columns import Column, Table, count, latency, seconds, text
from mqperf.record import CLOCK_STEP_LIMIT_S, Whole
from mqperf.record.logs.inside import LOG, Line, lines
from mqperf.study.probes.broker_log import sort_of
from mqperf.study.probes.node_metrics import INSIDE_READERS, conservation
from mqperf.study.probes.node_metrics.node_summary import node_summary
from mqperf.study.probes.node_metrics.reader import Figure
from mqperf.study.probes.reader import ProbeReader

TOLERANCE_S = 0.5
"""Queries up to this far outside the window count as its ends."""

EARLY_S, LATE_S = 0.1, 2.0
"""Queries may precede the load, and follow its planned end, by less than this."""

NEVER_NEGATIVE = (("queues", "messages"), ("links", "undelivered"), ("memory", "used"))
"""Kind and quantity of the figures in tables that do not allow negative values."""


METRICS = (
    seconds("time_s", "Time of the query, since the start of the measured window.", "time"),
    text("host", "Host of the node, whose probe queried it."),
    text("node", "Label of the node."),
    text(
        "kind",
        "Kind of the object: node, queue, queues, memory, pool, collector, link, links, address,"
        " connections, route.",
    ),
    text("object", "Its name; `node` or `all` where there is one of the kind.", "object"),
    text("quantity", "Name of the metric.", "quantity"),
    Column("value", "float64", "Its value, in `unit`; counters count from their start."),
    text("unit", "msg, bytes, s; empty for other numbers.", "unit"),
)

SUMMARY = (
    text("node", "Label of the node.", "node"),
    count("answers", "Times that it reported metrics, over the window.", "answers", ""),
    count("waiting_max", "Most messages in its queues, or on its links, at once.", "waiting, max"),
    Column(
        "waiting_growth",
        "Int64",
        "Messages waiting at the end of the window less those at its start.",
        "waiting, growth",
        "msg",
    ),
    Column(
        "memory_max_bytes",
        "float64",
        "Most memory that it reported: resident, of RabbitMQ; the heap, of Java; the pools, of"
        " routers.",
        "memory, max",
        "bytes",
        "MiB",
        2**-20,
        "not negative",
    ),
    count(
        "collections",
        "Runs of its garbage collectors: of all its processes, where each has its own.",
        "garbage collections",
        "",
    ),
    latency(
        "paused_s",
        "Time that its garbage collectors reported to have worked; empty if they report none.",
        "garbage collection",
    ),
    count(
        "presettled_dropped",
        "Pre-settled messages that it dropped silently; empty if it does not count them.",
        "pre-settled, dropped",
    ),
)
"""Columns of the table ``node_summary``."""


@lru_cache(maxsize=1)  # tables and contradictions need the same run in succession
def read(run: Whole) -> pd.DataFrame:
    """Rows of the table ``node_metrics``: figures of every node in the window, both ends included.

    Nodes are in the order of the system.  Raises ``ProbeError`` for a log that is damaged, or of a
    node that the run does not know.
    """
    rows = [
        row
        for file in sorted((run.run.path / "probes").glob(f"*/{LOG}"))
        for row in _rows(run, file)
    ]
    ranks = {node.label: rank for rank, node in enumerate(run.facts.system.nodes)}
    _check(run.run.path / "probes", rows)
    rows.sort(key=lambda row: (ranks.get(row[2], len(ranks)), row[0]))
    return pd.DataFrame(rows, columns=[column.name for column in METRICS])


def disagreements(run: Whole) -> Iterator[str]:
    """Yield logs from another time than the load, and nodes without the answers of their kind.

    Nodes are of one kind if the names of their own logs differ only by a number.
    """
    nodes_in_logs: set[str] = set()
    files = sorted((run.run.path / "probes").glob(f"*/{LOG}"))
    for file in files:
        name, clock = file.relative_to(run.run.path), run.clock(file.parent.name)
        log_lines = [*lines(file)]
        nodes_in_logs |= {line.node for line in log_lines}
        instants = [line.epoch - clock.offset_s for line in log_lines]
        early_s = run.load[0] - min(instants, default=run.load[0])
        end = run.load[0] + run.case.load_s  # queries go on until an early end is noticed
        late_s = max(instants, default=end) - end
        offsets = [line.epoch - line.monotonic for line in log_lines] or [0.0]
        if (step_s := max(offsets) - min(offsets)) > CLOCK_STEP_LIMIT_S:
            yield f"{name}: the wall clock was set by {step_s:.3f} s during the load"
        if early_s > clock.uncertainty_s + EARLY_S:
            yield f"{name}: begins {early_s:.1f} s before the load"
        if late_s > clock.uncertainty_s + LATE_S:
            yield f"{name}: ends {late_s:.1f} s after the load"
    log_kinds = {node.label: sort_of(node.log) for node in run.facts.system.nodes if node.log}
    for node, kind in log_kinds.items():
        if node not in nodes_in_logs and kind in {log_kinds.get(other) for other in nodes_in_logs}:
            yield f"{LOG}: it reports {', '.join(sorted(nodes_in_logs))}, and not {node}"


def _rows(run: Whole, file: Path) -> Iterator[tuple[Any, ...]]:
    host, nodes = file.parent.name, {node.label for node in run.facts.system.nodes}
    ahead_s, length_s = run.clock(host).offset_s, run.window[1] - run.window[0]
    for number, line in enumerate(lines(file), 1):
        if nodes and line.node not in nodes:
            raise ProbeError(f"{file}:{number}: run.json knows no node {line.node}")
        time_s = line.epoch - ahead_s - run.window[0]
        if -TOLERANCE_S <= time_s <= length_s + TOLERANCE_S and line.error is None:
            for figure in _figures(file, number, line):
                yield time_s, host, line.node, *figure


def _figures(file: Path, number: int, line: Line) -> list[Figure]:
    if (reader := INSIDE_READERS.get(line.protocol)) is None:
        raise ProbeError(
            f"{file}:{number}: answers of {line.protocol!r} are not known here: install"
            f" {package_of(line.protocol)}"
        )
    try:
        return [*reader.figures(line.told)]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProbeError(
            f"{file}:{number}: no answer of {line.protocol}: {type(error).__name__} {error}"
        ) from None


def _check(folder: Path, rows: Sequence[tuple[Any, ...]]) -> None:
    """Raise ``ProbeError`` for a figure that is negative in all answers of a node.

    Counters that several threads of a broker change may be negative for moments.
    """
    largest: dict[tuple[Any, ...], tuple[float, float]] = {}
    for time_s, host, node, kind, _, quantity, value, _ in rows:
        if (kind, quantity) in NEVER_NEGATIVE:
            figure = host, node, kind, quantity
            largest[figure] = max(largest.get(figure, (value, time_s)), (value, time_s))
    for (host, node, kind, quantity), (value, time_s) in largest.items():
        if value < 0:
            raise ProbeError(
                f"{folder / host / LOG}: {node} reports {value:g} {quantity} of {kind} at"
                f" {time_s:.0f} s, and no more at any other time"
            )


READER = ProbeReader(
    "inside",
    disagreements=disagreements,
    contradictions=lambda reading: conservation.contradictions(read(reading.run), reading),
)

NODE_METRICS = Table(
    "node_metrics",
    "a metric of a node at an instant",
    METRICS,
    rows=lambda reading: read(reading.run),
    by_second=True,
    former="internals",
)

NODE_SUMMARY = Table(
    "node_summary",
    "a node of a run, and what it reported over the window",
    SUMMARY,
    rows=lambda reading: node_summary(read(reading.run)),
    former="insides",
)
