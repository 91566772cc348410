"""Which point stands for a sweep: the best of those whose throughput is beyond doubt."""

from collections.abc import Sequence

import pandas as pd

from mqperf.report.words import Layout
from mqperf.stats.checks import SPOILING
from mqperf.tables import Tables, at, varied
from mqperf.test_cases import TEST_CASES

FIGURE = "throughput_msg_s"


def spoiled(doubts: pd.DataFrame) -> set[str]:
    """The points with a doubt for which they should not head a summary."""
    return set(doubts.loc[doubts["kind"].isin(SPOILING), "point"].dropna())


def best_first(points: pd.DataFrame, doubts: pd.DataFrame) -> pd.DataFrame:
    """The measured points, the best first: those that are sound before those that are not.

    Adds ``sound``, ``higher``: the highest throughput of doubted points above a sound one, and
    ``at``: where in the sweep each is, in words.
    """
    measured = points[points[FIGURE].notna()]
    sound = ~measured["point"].isin(spoiled(doubts))
    doubted = measured.loc[~sound, FIGURE].max()
    higher = doubted if pd.notna(doubted) else float("nan")
    axes = ("threads", *varied(points))
    where = pd.Series([at(row, axes) for row in measured.to_dict("records")], measured.index, str)
    rated = measured.assign(sound=sound, higher=float(higher), at=where)
    rated["higher"] = rated["higher"].where(rated["sound"] & (rated["higher"] > rated[FIGURE]))
    return rated.sort_values(["sound", FIGURE], ascending=False, kind="stable")


def tops(tables: Tables, layouts: Sequence[Layout]) -> pd.DataFrame:
    """One row per layout and test case: the best point, a sound one if there is any.

    Adds ``label`` and ``folder`` of the layout, ``doubts``, the kinds of doubt about the point, and
    the columns of ``best_first``.
    """
    points, doubts = tables["points"], tables["doubts"]
    best = [
        best_first(layout.of(points, case), doubts)
        .head(1)
        .assign(label=layout.label, folder=layout.folder)
        for layout in layouts
        for case in TEST_CASES
    ]
    tops = pd.concat(best, ignore_index=True)
    kinds = doubts.drop_duplicates(["point", "kind"])
    about = [list(kinds.loc[kinds["point"] == point, "kind"]) for point in tops["point"]]
    return tops.assign(doubts=pd.Series(about, index=tops.index, dtype=object))
