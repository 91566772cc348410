"""Compare the internal metrics of nodes with the record of every message."""

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
"""Kind and quantity of the routers' counters of messages from and to clients."""

LEAST_SHARE = 0.5
"""Share of the messages received that routers must have counted in the same time."""

LEAST_LATENCIES = 4
"""Least duration of the comparison, in mean latencies: then counts differ by a quarter at most."""

NEAR_S = 2
"""Seconds by which an answer's time may be off: queries are late, and figures old."""

UNACKNOWLEDGED = 1000
"""Received messages that a queue may still hold: servers acknowledge in batches."""


def contradictions(metrics: pd.DataFrame, reading: "Reading") -> Iterator[str]:
    """Yield counters below the messages that passed, and queues above those in flight."""
    if metrics.empty:
        return
    run = reading.run
    streams = reading.intervals.pivot_table("count", "start_s", "stream", "sum", fill_value=0)
    if reading.latencies.count and "received" in streams:
        yield from _passed(metrics, streams["received"], reading.latencies.mean_s)
    last = "round-trip" if TEST_CASES[run.case.test_case].replies else "received"
    queues = QUEUES.get(run.case.queues)
    keeps_messages = queues is not None and (queues.log or queues.declared)
    if not keeps_messages and not run.case.background and {"sent", last} <= {*streams}:
        sent = streams["sent"] * generator_of(run).copies(run.case)
        yield from _waiting(metrics, sent, streams[last])


def _passed(metrics: pd.DataFrame, received: pd.Series, latency_s: float) -> Iterator[str]:
    for kind, way in COUNTERS:
        counter = metrics[metrics["kind"].eq(kind) & metrics["quantity"].eq(way)]
        counted = _by_second(counter)
        handled = int(received.reindex(counted.index - 1, fill_value=0).sum())
        if len(counted) >= LEAST_LATENCIES * latency_s and counted.sum() < LEAST_SHARE * handled:
            yield (
                f"{handled} messages were received in {len(counted)} s, nodes counted"
                f" {counted.sum():.0f} {way} meanwhile ({kind})"
            )


def _by_second(counter: pd.DataFrame) -> pd.Series:
    """Growth of a counter, summed over nodes, in the second before each; gaps are left out."""
    rounded = counter.assign(second=counter["time_s"].round())
    values = rounded.pivot_table("value", "second", "node", "sum")
    growth = values.diff().where(values.index.to_series().diff().eq(1), axis=0)
    return growth.where(~growth.lt(0), values).dropna().sum(axis="columns")


def _waiting(metrics: pd.DataFrame, sent: pd.Series, done: pd.Series) -> Iterator[str]:
    """Yield the second in which waiting messages most exceed those in flight, if any do."""
    in_flight = pd.DataFrame({"under_way": (sent - done).cumsum(), "sent": sent})
    most = in_flight.rolling(2 * NEAR_S + 1, center=True, min_periods=1).max()
    most.index += 1
    held = waiting(metrics.assign(run="")).set_index("time_s")["value"]
    most = most.reindex(held.index, method="nearest")
    excess = held - most["under_way"] - 2 * most["sent"] - UNACKNOWLEDGED
    if len(excess) and excess.max() > 0:
        at = int(excess.to_numpy().argmax())
        yield (
            f"nodes reported {held.iloc[at]:.0f} messages waiting in them at {held.index[at]:.0f}"
            f" s, and at most {most['under_way'].iloc[at]:.0f} were under way then"
        )
