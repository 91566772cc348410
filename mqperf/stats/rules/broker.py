"""What the broker said of itself."""

import json
from collections.abc import Iterator

from mqperf.stats.rules.finding import Finding
from mqperf.tables import Tables


def node_frozen(tables: Tables) -> Iterator[Finding]:
    """Nodes that were stopped during a run, and went on."""
    events = tables["events"]
    for run, rows in events[events["what"] == "frozen"].groupby("run", sort=False):
        told = [json.loads(detail) for detail in rows["detail"]]
        listing = ", ".join(f"{one['node']} from {one['first']} to {one['last']}" for one in told)
        yield Finding(
            str(run),
            f"stopped by a signal, as seen once a second: {listing}",
            {one["node"]: one["last"] for one in told},
        )


def broker_alarm(tables: Tables) -> Iterator[Finding]:
    """Alarms in the logs of a run's broker nodes, of failed attempts too."""
    events = tables["events"]
    alarms = events[events["what"] == "alarm"]
    for run, rows in alarms.groupby("run", sort=False):
        told = [json.loads(detail) for detail in rows["detail"]]
        listing = ", ".join(f"{one['log']}: {one['times']}" for one in told)
        yield Finding(
            str(run),
            f"the broker ran short of something (lines in {listing}), first: {told[0]['line']}",
            {one["log"]: one["times"] for one in told},
        )
