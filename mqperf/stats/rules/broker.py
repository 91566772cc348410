"""What the broker said of itself."""

import json
from collections.abc import Iterator

from mqperf.stats.rules.finding import Finding
from mqperf.tables import Tables


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
