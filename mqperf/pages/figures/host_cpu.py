"""Panels of the CPU of a host's processes."""

from collections.abc import Iterator, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import LEGEND_COLUMNS, as_text, dress, from_zero, shown
from mqperf.pages.figures.palette import DASHES, MARKERS, Shade, assigned
from mqperf.plan.columns import COLUMNS

_SHADES = {
    "client": palette.CASES[0],
    "server": palette.CASES[2],
    "background": palette.DOUBLED,
    "harness": palette.INK,
}


def host_cpu(
    cpu: pd.DataFrame,
    axes: Axes,
    *,
    nodes: Sequence[str] = (),
    subject: str = "CPU",
    legend_columns: int = LEGEND_COLUMNS,
) -> Axes:
    """Draw the CPU of every process of a host in each second of a run; dashed the whole machine.

    The rows of the table ``cpu`` with the scope ``interval`` are drawn, each at its middle.  All
    processes of mqperf itself are one line.  ``nodes`` are the broker nodes of all hosts, so that
    each keeps its colour.
    """
    seconds = cpu[cpu["scope"] == "interval"]
    midpoints = seconds.assign(start_s=(seconds["start_s"] + seconds["end_s"]) / 2)
    for name, kind, rows in _lines(midpoints):
        shade, marker, dash = _look(name, kind, nodes)
        axes.plot(
            rows["start_s"].to_numpy(dtype=float),
            shown(rows, "total_cores"),
            dash,
            marker=marker,
            markersize=3.5,
            linewidth=1.4,
            color=shade.light,
            label=as_text(name),
        )
    axes.set_xlabel(COLUMNS["start_s"].heading(), fontsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    from_zero(axes)
    return dress(axes, COLUMNS["total_cores"].heading(subject), legend_columns=legend_columns)


def _lines(seconds: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield name, kind and rows of each line: mqperf's own last but one, the machine last."""
    harness = seconds["kind"].eq("harness")
    named = seconds.assign(process=seconds["process"].mask(harness, "mqperf"))
    named["process"] = named["process"].mask(named["kind"].eq("host"), "whole machine")
    keys = ["kind", "process", "start_s"]
    used = named.groupby(keys, as_index=False, sort=False)[["total_cores"]].sum(min_count=1)
    last = {"harness": 1, "host": 2}
    used = used.sort_values("kind", key=lambda kinds: kinds.map(last).fillna(0), kind="stable")
    for (kind, name), rows in used.groupby(["kind", "process"], sort=False):
        yield str(name), str(kind), rows.sort_values("start_s")


def _look(name: str, kind: str, nodes: Sequence[str]) -> tuple[Shade, str | None, str]:
    """Return colour, marker and dash: of nodes by their order, of other processes by their kind."""
    if kind == "host":
        return palette.FAINT, None, DASHES[1]
    if kind == "broker":
        names = [*nodes, *({name} - {*nodes})]
        return assigned(palette.NODES, names, name), assigned(MARKERS, names, name), DASHES[0]
    number = int("".join(filter(str.isdigit, name)) or 1)
    return _SHADES.get(kind, palette.INK), MARKERS[(number - 1) % len(MARKERS)], DASHES[0]
