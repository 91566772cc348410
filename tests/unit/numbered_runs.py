"""Recorded runs of numbered messages, made from the tallies and counts of their processes."""

from collections.abc import Mapping
from pathlib import Path

from mqperf.plan import Case
from mqperf.record import Attempt
from mqperf.study import tables
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.tally import Tally

START = 1_700_000_000.0
"""When the load began; its window of two seconds began a second later."""


def read_back(folder: Path, case: Case, *records: tuple[Tally, Mapping[str, int]]) -> tables.Tables:
    """The tables of a completed run, given the tally and the counts of each process."""
    attempt, processes = Attempt(folder, case), []
    for tally, counts in records:
        label, kind = (str(tally.header[name]) for name in ("label", "kind"))
        processes.append({"label": label, "kind": kind, "reported": True})
        tally.save(attempt.folder / f"load/{label}.counts")
        diary = Diary(case.generator, label, kind)
        diary.counts = {**counts}
        diary.save(attempt.folder / f"load/{label}.json")
    attempt.facts |= {
        "window": {"start": START + 1, "end": START + 3},
        "kinds": {},
        "hosts": [{"label": "local", "cores": 4}],
        "system": {"nodes": []},
        "processes": processes,
    }
    attempt.event("measured")
    attempt.finish()
    read = tables.read(folder)
    assert list(read["runs"]["status"]) == ["done"], read["runs"]["failure"].to_list()
    return read
