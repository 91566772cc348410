"""Points over links of several delays and losses, each compared with that of the least of both."""

import pandas as pd

from mqperf.plan.columns import parameters
from mqperf.study.stats.compare import POINT_KEYS, judged, one_side
from mqperf.study.tables import Tables, varied

DELAY, LOSS = "delay_s", "loss_share"
GRID_AXES = [DELAY, LOSS]


def is_grid(tables: Tables) -> bool:
    """Whether delay and loss of the link both have several values."""
    points = tables["points"]
    return all(name in points and len(points[name].dropna().unique()) > 1 for name in GRID_AXES)


def alike(tables: Tables) -> list[str]:
    """Return the columns in which points of a grid agree: the varied ones but delay and loss."""
    varying = varied(tables["runs"])
    return [
        *POINT_KEYS,
        *(name for name in parameters() if name in varying and name not in GRID_AXES),
    ]


def factors(tables: Tables) -> pd.DataFrame:
    """Return a row per figure of a point: its factor relative to the least delay and loss.

    Columns are those of the table ``comparison``, with the point as B, and ``point``.  Points
    without the figure, as no message was completed there, have no row.
    """
    keys = alike(tables)
    sides = one_side(tables, "the grid", [*keys, *GRID_AXES])
    least = tables["points"][GRID_AXES].min()
    first = sides[(sides[GRID_AXES] == least).all(axis=1)].drop(columns=GRID_AXES)
    others = sides[(sides[GRID_AXES] != least).any(axis=1)]
    pairs = first.merge(others, on=[*keys, "figure"], suffixes=("_a", "_b"))
    if pairs.empty:
        return pd.DataFrame()
    places = pairs[[*keys, *GRID_AXES, "figure"]].assign(point=pairs["point_b"])
    return judged("comparison", pairs).merge(places, on=[*keys, *GRID_AXES, "figure"])
