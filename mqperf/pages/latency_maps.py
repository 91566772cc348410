"""Heat maps of latency over time in notebooks."""

from pathlib import Path

import pandas as pd
from IPython.display import Markdown, display

from mqperf.pages import figures
from mqperf.pages.sections import shown
from mqperf.study import tables
from mqperf.study.tables import Tables, arranged, at, completed, with_parameters

MOST = 12
"""Most heat maps of a layout; further points have none."""


def show(source: Path, results: Tables, test_case: str) -> None:
    """Display for each layout a heat map of the first whole run of each point.

    ``results`` are complete tables of ``source``, a folder of measured or imported runs.  Points
    whose latencies over time are not known have no heat map.
    """
    for view, _ in shown(results, "points", test_case):
        title = f"{view.layout.system_title}, {view.layout.label}"
        maps = _maps(source, view.tables["runs"])
        if maps:
            display(Markdown(title), figures.latency_map_sheet(maps, view.tables["outages"]))
        else:
            display(Markdown(f"{title}: latency over time is not known."))


def _maps(source: Path, runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each heat map by the label of its point."""
    attempts = with_parameters(completed(runs), runs).drop_duplicates("point")
    names = arranged(attempts).names
    maps = {
        at(row, names): tables.latency_map(source, str(row["run"]))
        for row in attempts.head(MOST).to_dict("records")
    }
    return {label: rows for label, rows in maps.items() if len(rows)}
