"""Panels of hosts: their clocks, the CPU of their processes and what their networks carried."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import LEGEND_COLUMNS, as_text, dress, from_zero, plain, shown
from mqperf.pages.figures.palette import DASHES, MARKERS, Shade, assigned
from mqperf.plan.columns import COLUMNS

SLOT = 0.7
"""Share of a host's place on an axis that its marks take."""

_KINDS = {
    "client": palette.CASES[0],
    "server": palette.CASES[2],
    "background": palette.DOUBLED,
    "harness": palette.INK,
}
_COMPARED = {"before": palette.THROUGHPUT, "after": palette.LATENCY}
_DIRECTIONS = {"sent_bytes_s": palette.SENT, "received_bytes_s": palette.RECEIVED}


def clocks(hosts: pd.DataFrame, axes: Axes) -> Axes:
    """How far each clock was ahead before and after the load of each run, with the bound as a bar.

    Of the table ``hosts``: its runs stand side by side in the place of their host, as they follow.
    """
    names, runs = list(hosts["host"].unique()), list(hosts["run"].unique())
    spacing = SLOT / max(2 * len(runs), 1)
    marks = zip(hosts["host"], hosts["run"], strict=True)
    lefts = [names.index(host) + 2 * spacing * runs.index(run) for host, run in marks]
    places = np.array(lefts, dtype=float) - SLOT / 2 + spacing / 2
    for number, (when, shade) in enumerate(_COMPARED.items()):
        offsets = shown(hosts, f"clock_offset_{when}_s")
        if not np.isfinite(offsets).any():
            continue
        axes.errorbar(
            places + number * spacing,
            offsets,
            np.nan_to_num(shown(hosts, f"clock_bound_{when}_s")),
            linestyle="none",
            marker=MARKERS[number],
            markersize=4,
            elinewidth=1,
            color=shade.light,
            label=f"{when} the load",
        )
    if axes.has_data():
        axes.axhline(0, color=palette.FAINT.light, linewidth=0.8, zorder=1)
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
        axes.set_xticks(range(len(names)), [as_text(name) for name in names])
        axes.set_xlim(-0.5, len(names) - 0.5)
    ahead = replace(COLUMNS["clock_offset_before_s"], label="clock ahead of the controller's")
    return dress(axes, ahead.heading())


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


def traffic(network: pd.DataFrame, axes: Axes, *, subject: str = "received and") -> Axes:
    """What each interface of each host sent and received over the window of a run, as bars.

    Of the table ``network``.
    """
    names = [f"{row.host} {row.interface}" for row in network.itertuples()]
    height = SLOT / len(_DIRECTIONS)
    for number, (column, shade) in enumerate(_DIRECTIONS.items()):
        if network.empty:
            continue
        places = np.arange(len(names)) + (number - 0.5) * height
        values = shown(network, column)
        label = COLUMNS[column].label
        bars = axes.barh(places, values, height * 0.9, color=shade.light, label=label)
        texts = [plain(float(f"{value:.3g}")) for value in values]
        axes.bar_label(bars, texts, padding=4, color=palette.INK.light, fontsize=8.5)
    axes.set_yticks(range(len(names)), [as_text(name) for name in names])
    axes.margins(x=0.15)
    if names:
        axes.invert_yaxis()
    dress(axes, COLUMNS["sent_bytes_s"].heading(subject))
    axes.tick_params(axis="y", labelcolor=palette.INK.light)
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    return axes


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
