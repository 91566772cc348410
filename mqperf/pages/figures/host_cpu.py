"""Panels of the CPU of a host's processes."""

from collections.abc import Iterator, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import LEGEND_COLUMNS, as_text, dress, from_zero, shown
from mqperf.pages.figures.palette import DASHES, MARKERS, Shade, assigned
from mqperf.plan.columns import COLUMNS

_KINDS = {
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
    """CPU of every process of a host in each second of a run; dashed that of its whole machine.

    Of the table ``cpu`` it takes the intervals, each drawn at its middle.  What mqperf itself used
    there is one line.  ``nodes`` are those of the system, also of other hosts, so that each keeps
    its colour.
    """
    seconds = cpu[cpu["scope"] == "interval"]
    middle = seconds.assign(start_s=(seconds["start_s"] + seconds["end_s"]) / 2)
    for name, kind, rows in _lines(middle):
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
    """Name, kind and seconds of each line: the machine last, and before it mqperf's own."""
    harness = seconds["kind"].eq("harness")
    named = seconds.assign(process=seconds["process"].mask(harness, "mqperf"))
    named["process"] = named["process"].mask(named["kind"].eq("host"), "whole machine")
    keys = ["kind", "process", "start_s"]
    used = named.groupby(keys, as_index=False, sort=False)[["total_cores"]].sum(min_count=1)
    late = {"harness": 1, "host": 2}
    used = used.sort_values("kind", key=lambda kinds: kinds.map(late).fillna(0), kind="stable")
    for (kind, name), rows in used.groupby(["kind", "process"], sort=False):
        yield str(name), str(kind), rows.sort_values("start_s")


def _look(name: str, kind: str, nodes: Sequence[str]) -> tuple[Shade, str | None, str]:
    """Colour, marker and dash: nodes by their order, others by what they are."""
    if kind == "host":
        return palette.FAINT, None, DASHES[1]
    if kind == "broker":
        of_all = [*nodes, *({name} - {*nodes})]
        return assigned(palette.NODES, of_all, name), assigned(MARKERS, of_all, name), DASHES[0]
    number = int("".join(filter(str.isdigit, name)) or 1)
    return _KINDS.get(kind, palette.INK), MARKERS[(number - 1) % len(MARKERS)], DASHES[0]
