"""Background loads: whether they were the loads that the plan asks for."""

from collections.abc import Iterator

import pandas as pd

from mqperf.study.stats.rules.finding import Finding, Row, each
from mqperf.study.stats.rules.offered import missed
from mqperf.study.tables import Tables

FAULTS = {
    "lost": "{} of {} lost",
    "errors": "{} of {} ended in an error",
    "duplicates": "{} copies beside {}",
    "foreign": "{} of {} were never sent",
    "causality_violations": "{} of {} were finished before they were started",
}
"""Columns of messages that no sound load has, and what is said of them."""


def background_load(tables: Tables) -> Iterator[Finding]:
    """Background loads that missed their rate, or of which messages were lost, failed or so."""
    windows = tables["runs"][["run", "window_s"]]
    loads = tables["background"].merge(windows, on="run", how="left")
    slow = set(missed(loads).index)
    for index, row in zip(loads.index, each(loads), strict=True):
        faults = {name: int(getattr(row, name)) for name in FAULTS if _is_there(row, name)}
        asked = row.sent if pd.isna(row.deliveries) else row.deliveries
        faults_in_words = [FAULTS[name].format(count, asked) for name, count in faults.items()]
        if pd.notna(row.received) and row.received == 0:
            faults_in_words.append("no server received any")
        if index in slow:
            faults_in_words.append(
                f"{row.send_rate_msg_s:.0f} a second were sent in the window, and"
                f" {row.offered_rate_msg_s:.0f} were offered"
            )
        if isinstance(row.disagreements, str):
            faults_in_words.append(f"two records of the same messages differ: {row.disagreements}")
        if faults_in_words:
            yield Finding(
                row.run,
                f"messages of the background load {row.load}: {', '.join(faults_in_words)}",
                {"background": int(row.background), "sent": int(row.sent), **faults},
            )


def _is_there(row: Row, name: str) -> bool:
    """Whether the row has such messages; where nobody counted them there are none."""
    value = getattr(row, name)
    return bool(pd.notna(value) and value != 0)
