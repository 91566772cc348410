"""Problems that broker nodes recorded themselves."""

from collections.abc import Iterator
from typing import Any

from mqperf.study.stats.rules.finding import Finding, Row, detail, each, of_actions
from mqperf.study.tables import Tables


def node_frozen(tables: Tables) -> Iterator[Finding]:
    """Nodes that were stopped during a run, and went on."""
    events = tables["events"]
    for run, rows in events[events["what"] == "frozen"].groupby("run", sort=False):
        frozen = [_details(row, "node", "first", "last") for row in each(rows)]
        listing = ", ".join(f"{node} from {first} to {last}" for node, first, last in frozen)
        yield Finding(
            str(run),
            f"stopped by a signal, checked once a second: {listing}",
            {node: last for node, _, last in frozen},
        )


def broker_alarm(tables: Tables) -> Iterator[Finding]:
    """Alarms in the logs of a run's broker nodes, of failed attempts too."""
    events = tables["events"]
    alarms = events[events["what"] == "alarm"]
    for run, rows in alarms.groupby("run", sort=False):
        lines = [_details(row, "log", "times", "line") for row in each(rows)]
        listing = ", ".join(f"{log}: {times}" for log, times, _ in lines)
        yield Finding(
            str(run),
            f"the broker raised a resource alarm (lines in {listing}), first: {lines[0][2]}",
            {log: times for log, times, _ in lines},
        )


def presettled_dropped(tables: Tables) -> Iterator[Finding]:
    """Pre-settled messages that routers dropped, by their own counters.

    Drops up to the number of messages that actions of the plan cost are attributed to these.
    """
    nodes = tables["node_summary"]
    runs = nodes.groupby("run", as_index=False, sort=False)[["presettled_dropped"]].sum()
    beyond = runs[runs["presettled_dropped"] > of_actions(tables, runs, "lost")]
    dropped = nodes[nodes["run"].isin(beyond["run"]) & nodes["presettled_dropped"].gt(0)]
    for run, rows in dropped.groupby("run", sort=False):
        counts = {row.node: int(row.presettled_dropped) for row in each(rows)}
        listing = ", ".join(f"{node} {count}" for node, count in counts.items())
        yield Finding(
            str(run),
            f"{sum(counts.values())} pre-settled messages were silently dropped in the window"
            f" ({listing}): the rate is more than routers can forward",
            counts,
        )


def _details(event: Row, *names: str) -> tuple[Any, ...]:
    """The details of an event with these names, ``unknown`` where it lacks one."""
    details = detail(event)
    return tuple(details.get(name, "unknown") for name in names)
