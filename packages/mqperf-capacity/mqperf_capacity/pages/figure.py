"""CPU of every role against the rate: as measured, and as predicted until one is full."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mqperf.pages.figures.marks import as_shown, as_text, dress
from mqperf.pages.figures.palette import BOX, DASHES, FAINT, MARKERS, NODES, assigned
from mqperf.pages.figures.sheets import HEIGHT, one_legend, panes, without_legend
from mqperf.pages.figures.told import tell
from mqperf.pages.questions.words import case_of, grouped, layout_of, rate_unit
from mqperf.pages.report.drawings import Drawing
from mqperf.study.tables import Tables
from mqperf_capacity.pages.words import name_of
from mqperf_capacity.study.points import HOST
from mqperf_capacity.study.predictions import ALL, Predicted
from mqperf_capacity.study.regression import Floats, interval

CAPTION = "CPU of every role against the rate"
BEYOND = 1.1
"""How far the axis of CPU goes, relative to a full role."""

STEPS = 400
"""The number of rates at which a prediction is drawn."""


def drawing(results: Sequence[Predicted], tables: Tables) -> Drawing:
    """A panel for each prediction, with a mark for each role in each run.

    Lines, with their intervals, end where the first role has no CPU left, by the cost of a message
    at low load.  Behind them is the interval of the rate that is sustained.
    """
    limits = [grouped(result.together["full_msg_s"]) for result in results]
    alt = f"{CAPTION}, as measured and as predicted: {', '.join(limits)} sustained."
    return Drawing(CAPTION, alt, lambda: _sheet(results, tables))


def _sheet(results: Sequence[Predicted], tables: Tables) -> Figure:
    figure, [panels] = panes(len(results), 1, HEIGHT)
    for result, axes in zip(results, panels, strict=True):
        whole, keys = result.together, result.known.model.keys
        axes.axvspan(whole["full_msg_s_low"], whole["full_msg_s_high"], color=BOX.light, zorder=0)
        axes.axhline(100, color=FAINT.light, linestyle=DASHES[1], linewidth=1)
        _draw(result, axes)
        axes.set_xlim(0, axes.get_xlim()[1])
        axes.set_ylim(0, 100 * BEYOND)
        dress(axes, "")
        subject = filter(None, [case_of(keys), layout_of(keys, tables)])
        without_legend(axes, as_text(f"{', '.join(subject)}: CPU of each role, %"))
        axes.set_xlabel(rate_unit(keys), fontsize=9)
    one_legend(figure, panels)
    return figure


def _draw(result: Predicted, axes: Axes) -> None:
    """Draw the roles of a prediction; the common host only where that is full first."""
    roles = [row for row in result.rows if row["role"] != ALL]
    first = min(roles, key=lambda row: float(row["full_msg_s"]))["role"]
    shown = [row for row in roles if row["role"] == first or row["role"] != HOST]
    capacities = {row["role"]: row["capacity_cores"] for row in shown}
    rates = np.linspace(0, result.together["full_msg_s_high"], STEPS)
    shares = {role: _predicted(result, role, rates) / cores for role, cores in capacities.items()}
    drawn = np.all([middle < 1 for middle, *_ in shares.values()], axis=0)
    for role, cores in capacities.items():
        shade, name = assigned(NODES, capacities, role).light, name_of(role)
        middle, low, high = 100 * shares[role][:, drawn]
        axes.fill_between(rates[drawn], low, high, color=shade, alpha=0.15, linewidth=0)
        (line,) = axes.plot(rates[drawn], middle, color=shade, linewidth=1.5, label=as_text(name))
        tell(line, [as_shown(name)])
        runs = _measured(result, role)
        used = 100 * runs["cores"] / cores
        marker = assigned(MARKERS, capacities, role)
        (marks,) = axes.plot(runs["rate"], used, marker, color=shade, markersize=5, label="_")
        texts = [f"{run}\n{share:.0f} %" for run, share in zip(runs["run"], used, strict=True)]
        tell(marks, [as_shown(name)], texts)


def _predicted(result: Predicted, role: str, rates: Floats) -> Floats:
    """Cores at each rate, and the lower and upper ends for one further run: a row each."""
    payload = result.together["asked_payload_bytes"]
    ends = [interval(*result.known.in_a_run(role, rate, payload)) for rate in rates]
    return np.array(ends).T


def _measured(result: Predicted, role: str) -> pd.DataFrame:
    """CPU of a role in the runs of its model: ``run``, ``rate`` and ``cores``."""
    model = result.known.model
    used = model.used.loc[model.used["role"] == role, ["run", "cores"]]
    return model.runs[["run", "rate"]].merge(used, on="run")
