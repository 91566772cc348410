"""Latency by percentile on HdrHistogram's axis, where each further nine takes the same width.

G. Tene, How Not to Measure Latency, 2013.  A percentile q is drawn at -log10(1 - q), which
approximates the logit near 1.
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

TICK_LEVELS = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
"""Percentiles with a tick."""


def percentiles(
    rows: pd.DataFrame,
    axes: Axes,
    *,
    subject: str = "",
    title: str = "",
    among: pd.DataFrame | None = None,
) -> Axes:
    """Draw latency at each percentile, a line for each point; rarer percentiles are further right.

    ``rows`` are of the table ``percentiles``, with parameters; a percentile is averaged over
    repeats where all of them have it.  ``subject`` is the kind of latency, ``title`` the subset.
    For panels of one sheet ``among`` has the rows of all panels: a line is then a value on x, with
    the same colour in every panel.
    """
    by = arranged(rows).names if among is None else (arranged(among).x,)
    names = [name for name, _ in split(rows if among is None else among, by)]
    for name, curve in split(common(rows), by):
        ordered = curve.sort_values("percentile")
        latencies = shown(ordered, "latency_s")
        (drawn,) = axes.plot(
            _positions(ordered["percentile"].to_numpy(dtype=float)),
            latencies,
            marker=".",
            markersize=4,
            color=palette.spread(palette.THREADS, names.index(name), len(names)).light,
            linewidth=1.8,
            label=as_text(name),
        )
        levels = zip(ordered["percentile"], latencies, strict=True)
        tell(drawn, [as_shown(name)], [f"{name}\np{100 * q:.7g} {s:.3g} ms" for q, s in levels])
    ticks = [level for level in TICK_LEVELS if len(rows) and level <= rows["percentile"].max()]
    axes.xaxis.set_major_locator(FixedLocator(list(_positions(np.array(ticks)))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda place, _: f"{100 * (1 - 10**-place):.6g}"))
    axes.set_xlabel(COLUMNS["percentile"].heading(), fontsize=9)
    heading = COLUMNS["latency_s"].heading(subject)
    dress(axes, f"{title}: {heading}" if title else heading, legend_columns=3)
    log_scale(axes)
    return axes


def common(rows: pd.DataFrame) -> pd.DataFrame:
    """Average each percentile that all repeats of a point have; return curve after curve."""
    if rows.empty:
        return rows
    repeats = rows.groupby("point")["run"].transform("nunique")
    repeats_with_it = rows.groupby(["point", "percentile"])["run"].transform("nunique")
    means = over_repeats(rows[repeats_with_it == repeats], ["latency_s"], "percentile")
    return in_curves(means, "percentile")


def _positions(levels: np.ndarray) -> np.ndarray:
    return -np.log10(np.round(1 - levels, 9))
