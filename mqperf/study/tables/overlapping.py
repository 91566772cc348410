"""What several probes recorded of the same: only those of one are in the tables."""

from pathlib import Path

import pandas as pd

from mqperf.record import runs, whole
from mqperf.study.probes import PROBE_READERS
from mqperf.study.tables.of_run import keys
from mqperf.study.tables.shape import conform, empty


def overlapping(path: Path, table: str) -> dict[str, pd.DataFrame]:
    """By probe, the rows that it has for a table of a runs folder, and that are not in it.

    Probes without such rows are left out.  Raises ``MqperfError`` for a run that cannot be read.
    """
    found: dict[str, list[pd.DataFrame]] = {}
    for run in runs(path):
        if run.status == "done":
            one = whole(run, run.facts())
            for probe in PROBE_READERS.values():
                rows = probe.overlapping(one).get(table, empty(table))
                if len(rows):
                    of_run = rows.assign(**keys(run.id, one.case))
                    found.setdefault(probe.name, []).append(of_run)
    return {name: conform(table, pd.concat(some)) for name, some in found.items()}
