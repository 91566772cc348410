"""The times within a run that its doubts are about, where they are not about all of it."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from mqperf.study.stats.rules.disturbed import LATE_S
from mqperf.study.stats.rules.window import finished, without_actions
from mqperf.study.tables import Tables

Span = tuple[float, float]
"""Seconds since the start of the window; an instant is a span without length."""


def doubted_times(tables: Tables) -> pd.DataFrame:
    """One row per span of each doubt that is about a part of its run.

    Columns: ``run``, ``kind``, ``text``; ``from_s`` and ``until_s``, seconds since the start of the
    window.  Doubts of other kinds have no rows: they are about the whole run.
    """
    doubts = tables["doubts"]
    rows = [
        {"run": run, "kind": kind, "text": text, "from_s": start, "until_s": end}
        for run, kind, text in doubts[["run", "kind", "text"]].itertuples(index=False)
        if kind in _SPANS and isinstance(run, str)
        for start, end in _SPANS[kind](_tables_of_run(tables, run))
    ]
    return pd.DataFrame(rows, columns=["run", "kind", "text", "from_s", "until_s"])


def _tables_of_run(tables: Tables, run: str) -> Tables:
    names = ("events", "intervals", "outages")
    return {name: tables[name][tables[name]["run"].eq(run)] for name in names}


def _empty_seconds(tables: Tables) -> Iterator[Span]:
    """Seconds of the window without a finished message that no action of the plan explains."""
    counts = without_actions(finished(tables["intervals"]), tables["outages"])
    for second in counts.index[counts.eq(0)].get_level_values("start_s"):
        yield float(second), float(second) + 1


def _late_actions(tables: Tables) -> Iterator[Span]:
    """The time between the planned and the actual start of each action that began late or early."""
    for planned, began in tables["outages"][["commanded_s", "began_s"]].itertuples(index=False):
        if abs(began - planned) > LATE_S:
            yield min(planned, began), max(planned, began)


def _not_recovered(tables: Tables) -> Iterator[Span]:
    """From the end of an action until the next one begins, or the load ends."""
    outages = tables["outages"]
    unrecovered = outages["level_msg_s"].notna() & outages["recovery_s"].isna()
    end = float(tables["intervals"]["start_s"].max()) + 1
    for ended in outages.loc[unrecovered, "ended_s"].dropna():
        next_begins = outages.loc[outages["began_s"] > ended, "began_s"]
        yield float(ended), float(np.nanmin([end, next_begins.min()]))


def _alarms(tables: Tables) -> Iterator[Span]:
    events = tables["events"]
    for instant in events.loc[events["what"].eq("alarm"), "time_s"].dropna():
        yield float(instant), float(instant)


_SPANS: Mapping[str, Callable[[Tables], Iterator[Span]]] = {
    "empty-seconds": _empty_seconds,
    "action-late": _late_actions,
    "not-recovered": _not_recovered,
    "broker-alarm": _alarms,
}
