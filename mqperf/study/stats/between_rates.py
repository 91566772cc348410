"""Comparisons of rates that are known to lie between two others: limits, and rates that are kept.

The interval of such a ratio holds every possible value: from the lower end of B over the upper end
of A, to the upper end of B over the lower end of A.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mqperf.plan.columns import COLUMNS, parameters
from mqperf.study.stats.bottleneck import LOAD_GENERATORS
from mqperf.study.stats.compare import CANNOT_TELL, MIN_EFFECT, alternated, doubted_sides
from mqperf.study.stats.doubt_kinds import SPOILING
from mqperf.study.stats.searches import LIMIT_ENDS, limits
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, empty
from mqperf.study.tables.shape import shaped

BETWEEN = "between rates"
"""``interval_kind`` of a ratio whose interval holds all possible values, not 95 % of them."""

UNNOTICED = 0.005
"""Changes up to this are shown as 0 %: an end of an interval as near to 1 gives no direction."""


def limits_compared(a: Tables, b: Tables, keys: Sequence[str], min_effect: float) -> pd.DataFrame:
    """One row of the table ``comparison`` per search of both sets: the limits, B against A.

    Searches are matched by ``keys``, by parameters that distinguish points of A or of B, and by the
    condition that is to hold.  Intervals are those of ``between``; a difference of less than
    ``min_effect`` gets no verdict.
    """
    found = [limits(side.get("searches", empty("searches"))) for side in (a, b)]
    filled = pd.concat(found).dropna(axis="columns", how="all").columns
    names = [name for name in parameters() if name in filled]
    types, sides = {name: COLUMNS[name].dtype for name in names}, []
    for rows, side in zip(found, (a, b), strict=True):
        fixed = side["runs"].reindex(columns=[name for name in names if name not in rows]).head(1)
        sides.append(rows.merge(fixed, how="cross").astype(types))
    pairs = sides[0].merge(sides[1], on=[*keys, *names, "hold"], suffixes=("_a", "_b"))
    if pairs.empty:
        return empty("comparison")
    rows = between(pairs, LIMIT_ENDS)
    value_a, value_b = (rows[f"limit_rate_msg_s_{side}"] for side in "ab")
    ratio = (value_b / value_a).fillna(rows["ratio"])
    doubts_a, doubts_b = (rows[f"doubted_{side}"].fillna("") for side in "ab")
    starts = (side["runs"].drop_duplicates("run")["started"].tolist() for side in (a, b))
    compared = rows.assign(
        value_a=value_a,
        value_b=value_b,
        ratio=ratio,
        clock_share=0.0,
        min_effect=min_effect,
        verdict=rows["verdict"].mask(abs(np.log(ratio)) < np.log1p(min_effect), CANNOT_TELL),
        doubted=doubts_a.combine(doubts_b, doubted_sides),
        in_turns=alternated(*starts),
    )
    return shaped("comparison", compared)


def between(pairs: pd.DataFrame, ends: tuple[str, str]) -> pd.DataFrame:
    """Pairs of rates with their ratios, intervals and verdicts, in columns of ``comparison``.

    ``ends`` are the columns of the lower and upper end of a rate; pairs have them with the suffixes
    ``_a`` and ``_b``.  An end that is not known, or at which load generators were the limit, counts
    as 0 or infinity.  Pairs whose interval then excludes nothing have no row.
    """
    least, most = ends
    lower = {side: pairs[f"{least}_{side}"].fillna(0.0) for side in "ab"}
    upper = {
        side: pairs[f"{most}_{side}"]
        .mask(pairs[f"limit_{side}"].eq(LOAD_GENERATORS).fillna(value=False))
        .fillna(np.inf)
        for side in "ab"
    }
    low, high = lower["b"] / upper["a"], upper["b"] / lower["a"]
    ratio = np.where(low > 0, np.where(np.isinf(high), low, np.sqrt(low * high)), high)
    undecided = (low <= 1 + UNNOTICED) & (high >= 1 - UNNOTICED)
    rows = pairs.assign(
        figure=FIGURE,
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
        interval_kind=BETWEEN,
        verdict=np.where(undecided, CANNOT_TELL, np.where(low > 1, "better", "worse")),
        min_effect=MIN_EFFECT,
        repeats_needed=pd.array([pd.NA] * len(pairs), dtype="Int64"),
        doubted=None,
        sound=~(pairs["doubted_a"].map(spoiled) | pairs["doubted_b"].map(spoiled)),
    )
    return rows[~undecided | (low > 0) & (high < np.inf)]


def spoiled(doubted: object) -> bool:
    """Whether any of these kinds of doubt, separated by commas, makes throughput doubtful."""
    return isinstance(doubted, str) and not SPOILING.isdisjoint(doubted.split(", "))
