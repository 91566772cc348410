"""All tables of a runs folder: those that were read, and those that are computed from them."""

import pandas as pd

from mqperf.stats.checks import doubts
from mqperf.stats.summary import points
from mqperf.tables import Tables


def complete(tables: Tables) -> dict[str, pd.DataFrame]:
    """The tables with ``points`` and ``doubts`` added.

    Doubts which came with the tables (the wording of a published report) are kept in front.
    """
    found = doubts(tables)
    known = tables.get("doubts")
    both = found if known is None or known.empty else pd.concat([known, found], ignore_index=True)
    return {**tables, "points": points(tables), "doubts": both}
