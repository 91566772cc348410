"""Latency over time as heat maps, in notebooks."""

from pathlib import Path

import pandas as pd
from IPython.display import Markdown, display

from mqperf.pages import figures
from mqperf.pages.sections import shown
from mqperf.study import tables
from mqperf.study.tables import Tables, arranged, at, completed, with_parameters

MOST = 12
"""Heat maps of a layout: those of the first points."""


def show(source: Path, results: Tables, test_case: str) -> None:
    """Draw for each layout a heat map of the first whole run of each point.

    ``results`` are complete tables of ``source``, a folder of runs or of imported ones.  Points
    whose latencies over time are not known have none.
    """
    for view, _ in shown(results, "points", test_case):
        title, part = f"{view.layout.system_title}, {view.layout.label}", view.tables
        maps = _maps(source, part)
        if maps:
            display(Markdown(title), figures.latency_map_sheet(maps, part["outages"]))
        else:
            display(Markdown(f"{title}: latency over time is not known."))


def _maps(source: Path, part: Tables) -> dict[str, pd.DataFrame]:
    """The rows of each heat map, by the words for its point."""
    attempts = with_parameters(completed(part["runs"]), part["runs"]).drop_duplicates("point")
    names = arranged(attempts).names
    maps = {
        at(row, names): tables.latency_map(source, str(row["run"]))
        for row in attempts.head(MOST).to_dict("records")
    }
    return {words: rows for words, rows in maps.items() if len(rows)}
