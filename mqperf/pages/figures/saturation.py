"""Where a sweep saturates, as bands behind its throughput."""

from collections.abc import Mapping
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from mqperf.pages.figures.palette import BOX, FAINT

_NAMES = {"saturation": ("saturation point", 0.03), "peak": ("peak", 0.11)}
"""Label of each, and its height as a share of the panel: below the curve and one another."""


def saturation(saturation_points: pd.DataFrame, axes: Axes, ends: tuple[float, float]) -> Axes:
    """Draw saturation point and peak of a sweep with their 95 % intervals, clipped to the sweep.

    ``saturation_points`` is the sweep's row of that table; ``ends`` are the fewest and the most
    threads that were measured.  Without an interval only a line is drawn.
    """
    for row in saturation_points.to_dict("records"):
        for column, (name, height) in _NAMES.items():
            value = float(row[f"{column}_threads"])
            label = _label(name, row)
            if ends[0] <= value <= ends[1]:
                _band(
                    axes,
                    float(row[f"{column}_threads_low"]),
                    float(row[f"{column}_threads_high"]),
                    ends,
                )
                _mark(axes, label, (value, height), ends)
    return axes


def as_offered(points: pd.DataFrame, saturation_rates: pd.DataFrame, axes: Axes) -> Axes:
    """Draw the throughput at each offered rate if every message were finished.

    For a single sweep the range in which it saturates is shaded: from the highest rate that was
    kept to the next one, both of the row of ``saturation_rates``.
    """
    rates = points["rate_msg_s"].dropna().astype(float)
    deliveries = saturation_rates["deliveries_each"].unique()
    if len(deliveries) == 1:
        # a collection, not a line: the limits and ticks of the axes come from measured points alone
        grid = np.geomspace(rates.min(), rates.max())
        offered = np.column_stack([grid, grid * deliveries[0]])
        look: dict[str, Any] = {"colors": FAINT.light, "linewidths": 1, "linestyles": "dotted"}
        axes.add_collection(LineCollection([offered], label="as offered", **look), autolim=False)
    rows = saturation_rates.dropna(subset=["saturation_rate_msg_s"])
    if len(saturation_rates) == 1 and len(rows) == 1:
        row = rows.iloc[0]
        ends = float(rates.min()), float(rates.max())
        _band(axes, float(row["kept_rate_msg_s"]), float(row["missed_rate_msg_s"]), ends)
        name = _label("saturation point", row.to_dict())
        _mark(axes, name, (float(row["saturation_rate_msg_s"]), 0.03), ends)
    return axes


def _label(name: str, row: Mapping[Any, Any]) -> str:
    return name if pd.isna(row.get("doubted")) else f"doubted {name}"


def _band(axes: Axes, low: float, high: float, ends: tuple[float, float]) -> None:
    if not isnan(low) and not isnan(high):
        axes.axvspan(
            max(low, ends[0]),
            min(high, ends[1]),
            color=BOX.light,
            alpha=0.7,
            linewidth=0,
            zorder=0.5,
        )


def _mark(axes: Axes, name: str, at: tuple[float, float], ends: tuple[float, float]) -> None:
    """Draw a thin line at the estimate, with its name on the side that has room."""
    x, height = at
    transform = axes.get_xaxis_transform()
    axes.vlines(x, 0, 1, FAINT.light, "dotted", transform=transform, linewidth=1, zorder=1)
    name_on_right = x < ends[1] * 0.6
    axes.annotate(
        f"{name} {x:,.0f}",
        (x, height),
        (4 if name_on_right else -4, 0),
        xycoords=transform,
        textcoords="offset points",
        horizontalalignment="left" if name_on_right else "right",
        color=FAINT.light,
        fontsize=8,
    )
