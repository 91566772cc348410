"""What nodes told of their inside, against the record of every message."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from mqperf.plan.test_cases import TEST_CASES
from mqperf.plan.topologies import QUEUES
from mqperf.study.load import generator_of
from mqperf.study.probes.node_metrics.node_summary import waiting

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

COUNTERS = tuple((kind, way) for kind in ("node", "address") for way in ("received", "sent"))
"""Kind and quantity of what routers count of messages that clients gave them and got."""

PASSED = 0.5
"""Share of the messages received that routers must have counted meanwhile."""

LONG = 4
"""Times the mean latency over which the messages counted are those received, but for a quarter."""

NEAR_S = 2
"""Seconds by which an answer and what it tells may be apart: questions are late, figures old."""

UNACKNOWLEDGED = 1000
"""Messages received that a queue may still have: servers acknowledge many at once."""


def contradictions(metrics: pd.DataFrame, reading: "Reading") -> Iterator[str]:
    """Fewer messages than passed, and more that wait than were under way."""
    if metrics.empty:
        return
    run = reading.run
    streams = reading.intervals.pivot_table("count", "start_s", "stream", "sum", fill_value=0)
    if reading.latencies.count and "received" in streams:
        yield from _passed(metrics, streams["received"], reading.latencies.mean_s)
    last = "round-trip" if TEST_CASES[run.case.test_case].replies else "received"
    queues = QUEUES.get(run.case.queues)
    kept = queues is not None and (queues.log or queues.declared)
    if not kept and not run.case.background and {"sent", last} <= {*streams}:
        sent = streams["sent"] * generator_of(run).copies(run.case)
        yield from _waiting(metrics, sent, streams[last])


def _passed(metrics: pd.DataFrame, received: pd.Series, latency_s: float) -> Iterator[str]:
    for kind, way in COUNTERS:
        counter = metrics[metrics["kind"].eq(kind) & metrics["quantity"].eq(way)]
        counted = _by_second(counter)
        handled = int(received.reindex(counted.index - 1, fill_value=0).sum())
        if len(counted) >= LONG * latency_s and counted.sum() < PASSED * handled:
            yield (
                f"{handled} messages were received in {len(counted)} s, nodes counted"
                f" {counted.sum():.0f} {way} meanwhile ({kind})"
            )


def _by_second(counter: pd.DataFrame) -> pd.Series:
    """What a counter of all nodes together grew by in the second before each, where all told it."""
    second = counter.assign(second=counter["time_s"].round())
    values = second.pivot_table("value", "second", "node", "sum")
    grown = values.diff().where(values.index.to_series().diff().eq(1), axis=0)
    return grown.where(~grown.lt(0), values).dropna().sum(axis="columns")


def _waiting(metrics: pd.DataFrame, sent: pd.Series, done: pd.Series) -> Iterator[str]:
    """The second in which too many are said to wait, where there is one."""
    ends = pd.DataFrame({"under_way": (sent - done).cumsum(), "sent": sent})
    near = ends.rolling(2 * NEAR_S + 1, center=True, min_periods=1).max()
    near.index += 1
    held = waiting(metrics.assign(run="")).set_index("time_s")["value"]
    near = near.reindex(held.index, method="nearest")
    beyond = held - near["under_way"] - 2 * near["sent"] - UNACKNOWLEDGED
    if len(beyond) and beyond.max() > 0:
        at = int(beyond.to_numpy().argmax())
        yield (
            f"nodes told of {held.iloc[at]:.0f} messages that wait in them at {held.index[at]:.0f}"
            f" s, and at most {near['under_way'].iloc[at]:.0f} were under way then"
        )
