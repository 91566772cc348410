"""Figures: a table and an ``Axes`` in, the same ``Axes`` out, and sheets of them.

Notebooks and reports draw the same pictures by these functions.  A colour has one meaning
everywhere, axis titles come from the register of columns, and two units never share an axis.
A point with a doubt gets a hollow marker; the 95 % interval over repeats is a bar.
"""

from mqperf.figures.host_sheets import clock_sheet, host_sheet, traffic_sheet
from mqperf.figures.hosts import clocks, host_cpu, traffic
from mqperf.figures.panels import (
    broker_cpu,
    by_load,
    finished_messages,
    latency,
    message_count,
    message_faults,
    node_cpu,
    over_time,
    throughput,
    topologies,
    tops,
)
from mqperf.figures.ratios import ratios
from mqperf.figures.sheets import (
    count_sheet,
    map_sheet,
    node_sheet,
    ratio_sheet,
    sweep_sheet,
    time_sheet,
    top_sheet,
    topology_sheet,
)
from mqperf.figures.svg import write_svg

__all__ = [
    "broker_cpu",
    "by_load",
    "clock_sheet",
    "clocks",
    "count_sheet",
    "finished_messages",
    "host_cpu",
    "host_sheet",
    "latency",
    "map_sheet",
    "message_count",
    "message_faults",
    "node_cpu",
    "node_sheet",
    "over_time",
    "ratio_sheet",
    "ratios",
    "sweep_sheet",
    "throughput",
    "time_sheet",
    "top_sheet",
    "topologies",
    "topology_sheet",
    "tops",
    "traffic",
    "traffic_sheet",
    "write_svg",
]
