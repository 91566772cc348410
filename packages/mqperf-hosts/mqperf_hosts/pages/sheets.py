"""Sheets of hosts: a panel for each host, or for each test case."""

from collections.abc import Mapping
from itertools import pairwise

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mqperf.pages.figures import host_cpu
from mqperf.pages.figures.sheets import HEIGHT, level, panes
from mqperf.study.tables import where
from mqperf_hosts.pages import panels

ACROSS = 3
"""Most panels of hosts in a row."""


def clock_sheet(hosts: pd.DataFrame) -> Figure:
    """Plot the clock of every host, before and after the load of each run."""
    figure, ((axes,),) = panes(1, 1, HEIGHT)
    panels.clocks(hosts, axes)
    return figure


def host_sheet(cpu: pd.DataFrame) -> Figure:
    """Plot the CPU of every host's processes over the seconds of a run, on the same scale."""
    nodes = list(cpu.loc[cpu["kind"] == "broker", "process"].unique())
    hosts = list(cpu["host"].dropna().unique()) or [""]
    across = min(len(hosts), ACROSS)
    down = -(-len(hosts) // across)
    figure, grid = panes(across, down, (HEIGHT - 0.3) * down)
    every_axes = [axes for row in grid for axes in row]
    for host, axes in zip(hosts, every_axes, strict=False):
        rows = where(cpu, host=host)
        host_cpu(rows, axes, nodes=nodes, subject=f"{host} CPU".strip())
    for axes in every_axes[len(hosts) :]:
        axes.set_axis_off()
    level([[axes] for axes in every_axes[: len(hosts)]])
    return figure


def traffic_sheet(network: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Plot the traffic of every interface, a panel for each test case, named by ``titles``."""
    cases = [case for case in titles if (network["test_case"] == case).any()] or [""]
    rows = network.groupby("run").size().max() if len(network) else 1
    figure, (grid,) = panes(len(cases), 1, 1.0 + 0.42 * rows)
    for case, axes in zip(cases, grid, strict=True):
        of_case = where(network, test_case=case)
        panels.traffic(
            of_case, axes, subject=" ".join([titles.get(case, ""), "received and"]).strip()
        )
    for left, axes in pairwise(grid):
        axes.tick_params(labelleft=_names(left) != _names(axes))
    return figure


def _names(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]
