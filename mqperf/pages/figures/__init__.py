"""Figures: panels, which draw a table on an ``Axes`` and return it, and sheets of panels.

Notebooks and reports share these functions.  A colour has one meaning everywhere, axis titles
come from the register of columns, and two units never share an axis.  A point with a doubt has a
hollow marker; the 95 % interval over repeats is a bar.
"""

from mqperf.pages.figures.answers import around_sheet, bracket_sheet, contrast_sheet
from mqperf.pages.figures.host_cpu import host_cpu
from mqperf.pages.figures.latency_maps import latency_map_sheet
from mqperf.pages.figures.node_metrics import PANELS as INSIDE_PANELS
from mqperf.pages.figures.node_metrics import inside_sheet
from mqperf.pages.figures.offered_rates import latency_name, rate_sheet
from mqperf.pages.figures.one_run import OneRun, run_sheet
from mqperf.pages.figures.overlaid import overlaid_sheet
from mqperf.pages.figures.panels import by_load, finished_messages
from mqperf.pages.figures.percentiles import common, percentiles
from mqperf.pages.figures.ratios import ratios
from mqperf.pages.figures.sheets import (
    METRICS,
    count_sheet,
    factor_sheet,
    metric_sheet,
    node_sheet,
    percentile_sheet,
    ratio_sheet,
    sweep_sheet,
    time_sheet,
    top_sheet,
    topology_sheet,
)
from mqperf.pages.figures.svg import as_picture, write_svg

__all__ = [
    "INSIDE_PANELS",
    "METRICS",
    "OneRun",
    "around_sheet",
    "as_picture",
    "bracket_sheet",
    "by_load",
    "common",
    "contrast_sheet",
    "count_sheet",
    "factor_sheet",
    "finished_messages",
    "host_cpu",
    "inside_sheet",
    "latency_map_sheet",
    "latency_name",
    "metric_sheet",
    "node_sheet",
    "overlaid_sheet",
    "percentile_sheet",
    "percentiles",
    "rate_sheet",
    "ratio_sheet",
    "ratios",
    "run_sheet",
    "sweep_sheet",
    "time_sheet",
    "top_sheet",
    "topology_sheet",
    "write_svg",
]
