"""Background loads: whether they were as planned."""

from collections.abc import Iterator

import pandas as pd

from mqperf.study.stats.rules.finding import Finding, Row, each
from mqperf.study.stats.rules.offered import missed
from mqperf.study.tables import Tables

FAULTS = {
    "lost": "{} of {} lost",
    "errors": "{} of {} ended in an error",
    "duplicates": "{} copies in addition to {}",
    "foreign": "{} of {} were never sent",
    "causality_violations": "{} of {} were finished before they were started",
}
"""Columns of faulty messages -> the phrase for them in a finding."""


def background_load(tables: Tables) -> Iterator[Finding]:
    """Background loads that missed their rate, or had messages that were lost, failed or faulty."""
    windows = tables["runs"][["run", "window_s"]]
    loads = tables["background"].merge(windows, on="run", how="left")
    slow = set(missed(loads).index)
    for index, row in zip(loads.index, each(loads), strict=True):
        faults = {name: int(getattr(row, name)) for name in FAULTS if _has_fault(row, name)}
        due = row.sent if pd.isna(row.deliveries) else row.deliveries
        phrases = [FAULTS[name].format(count, due) for name, count in faults.items()]
        if pd.notna(row.received) and row.received == 0:
            phrases.append("no server received any")
        if index in slow:
            phrases.append(
                f"{row.send_rate_msg_s:.0f} a second were sent in the window instead of the offered"
                f" {row.offered_rate_msg_s:.0f}"
            )
        if isinstance(row.disagreements, str):
            phrases.append(f"two records of the same messages differ: {row.disagreements}")
        if phrases:
            yield Finding(
                row.run,
                f"messages of the background load {row.load}: {', '.join(phrases)}",
                {"background": int(row.background), "sent": int(row.sent), **faults},
            )


def _has_fault(row: Row, name: str) -> bool:
    """Whether the count in a column is known and not zero."""
    value = getattr(row, name)
    return bool(pd.notna(value) and value != 0)
