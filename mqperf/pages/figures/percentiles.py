"""Latency by percentile, as HdrHistogram plots it: every nine more takes as much room as the last.

G. Tene, How Not to Measure Latency, 2013.  A percentile q stands at -log10(1 - q), which is what
the logit is near 1.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import as_shown, as_text, dress, log_scale, shown
from mqperf.pages.figures.told import tell
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import arranged, in_curves, over_repeats, split

MARKED = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
"""Percentiles with a tick."""


def percentiles(
    rows: pd.DataFrame,
    axes: Axes,
    *,
    subject: str = "",
    title: str = "",
    among: pd.DataFrame | None = None,
) -> Axes:
    """Latency at each percentile, a line for each point: to the right, what is rarer.

    ``rows`` are those of the table ``percentiles``, with parameters; repeats are averaged, where
    all of them tell the percentile.  ``subject`` says which latency it is, and ``title`` of what.
    Panels of one sheet are each drawn ``among`` the rows of all: lines are then of the values on
    x, and have the same colours everywhere.
    """
    by = arranged(rows).names if among is None else (arranged(among).x,)
    names = [name for name, _ in split(rows if among is None else among, by)]
    for name, curve in split(common(rows), by):
        ordered = curve.sort_values("percentile")
        latencies = shown(ordered, "latency_s")
        (drawn,) = axes.plot(
            _places(ordered["percentile"].to_numpy(dtype=float)),
            latencies,
            marker=".",
            markersize=4,
            color=palette.spread(palette.THREADS, names.index(name), len(names)).light,
            linewidth=1.8,
            label=as_text(name),
        )
        levels = zip(ordered["percentile"], latencies, strict=True)
        tell(drawn, [as_shown(name)], [f"{name}\np{100 * q:.7g} {s:.3g} ms" for q, s in levels])
    marked = [level for level in MARKED if len(rows) and level <= rows["percentile"].max()]
    axes.xaxis.set_major_locator(FixedLocator(list(_places(np.array(marked)))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda place, _: f"{100 * (1 - 10**-place):.6g}"))
    axes.set_xlabel(COLUMNS["percentile"].heading(), fontsize=9)
    heading = COLUMNS["latency_s"].heading(subject)
    dress(axes, f"{title}: {heading}" if title else heading, legend_columns=3)
    log_scale(axes)
    return axes


def common(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the repeats of a point, of the percentiles that all tell; curve after curve."""
    if rows.empty:
        return rows
    repeats = rows.groupby("point")["run"].transform("nunique")
    telling = rows.groupby(["point", "percentile"])["run"].transform("nunique")
    means = over_repeats(rows[telling == repeats], ["latency_s"], "percentile")
    return in_curves(means, "percentile")


def _places(levels: np.ndarray) -> np.ndarray:
    return -np.log10(np.round(1 - levels, 9))
