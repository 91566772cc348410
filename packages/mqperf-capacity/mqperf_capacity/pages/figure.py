"""CPU of every role against the rate: as runs used it, and as predicted until one is full."""

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
from mqperf_capacity.study.predictions import ALL, Predicted, Row
from mqperf_capacity.study.regression import interval

CAPTION = "CPU of every role against the rate"
BEYOND = 1.1
"""How far the axis goes, in rates at which the first role is full."""

STEPS = 40


def drawing(results: Sequence[Predicted], tables: Tables) -> Drawing:
    """A panel for each prediction; a line and a band for each role, a mark for each of its runs."""
    limits = [grouped(result.whole["full_msg_s"]) for result in results]
    alt = f"{CAPTION}, as measured and as predicted: one is full at {', '.join(limits)}."
    return Drawing(CAPTION, alt, lambda: _sheet(results, tables))


def _sheet(results: Sequence[Predicted], tables: Tables) -> Figure:
    figure, [panels] = panes(len(results), 1, HEIGHT)
    for result, axes in zip(results, panels, strict=True):
        whole, keys = result.whole, result.known.model.keys
        axes.axvspan(whole["full_msg_s_low"], whole["full_msg_s_high"], color=BOX.light, zorder=0)
        axes.axhline(100, color=FAINT.light, linestyle=DASHES[1], linewidth=1)
        roles = [row for row in result.rows if row["role"] not in {ALL, HOST}]
        for row in roles:
            _role(result, row, [each["role"] for each in roles], axes)
        axes.set_xlim(0, BEYOND * whole["full_msg_s_high"])
        dress(axes, "")
        subject = filter(None, [case_of(keys), layout_of(keys, tables)])
        without_legend(axes, as_text(f"{', '.join(subject)}: CPU, % of what each role has"))
        axes.set_xlabel(rate_unit(keys), fontsize=9)
        axes.set_ylim(0, 100 * BEYOND)
    one_legend(figure, panels)
    return figure


def _role(result: Predicted, row: Row, roles: Sequence[str], axes: Axes) -> None:
    """One role: its runs, and the line to where it is full, with the 90 % interval."""
    role, capacity = row["role"], row["capacity_cores"]
    shade, name = assigned(NODES, roles, role).light, name_of(role)
    rates = np.linspace(0, BEYOND * result.whole["full_msg_s_high"], STEPS)
    payload = result.whole["asked_payload_bytes"]
    ends = [interval(*result.known.in_a_run(role, rate, payload)) for rate in rates]
    middle, low, high = (100 / capacity * np.array(end) for end in zip(*ends, strict=True))
    axes.fill_between(rates, low, high, color=shade, alpha=0.15, linewidth=0)
    (line,) = axes.plot(rates, middle, color=shade, linewidth=1.5, label=as_text(name))
    tell(line, [as_shown(name)])
    runs = _measured(result, role)
    shares = 100 / capacity * runs["cores"]
    marker = assigned(MARKERS, roles, role)
    (marks,) = axes.plot(runs["rate"], shares, marker, color=shade, markersize=5, label="_")
    texts = [f"{run}\n{share:.0f} %" for run, share in zip(runs["run"], shares, strict=True)]
    tell(marks, [as_shown(name)], texts)


def _measured(result: Predicted, role: str) -> pd.DataFrame:
    """The runs that the demands of a role are of: ``run``, ``rate`` and ``cores``."""
    used = result.known.model.used
    of_role = used.loc[used["role"] == role, ["run", "cores"]]
    return result.known.runs[["run", "rate"]].merge(of_role, on="run")
