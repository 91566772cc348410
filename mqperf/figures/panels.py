"""Panels: a table drawn on an ``Axes``."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import cycle

import pandas as pd
from matplotlib.axes import Axes

from mqperf.columns import COLUMNS
from mqperf.figures import labels, palette
from mqperf.figures.marks import (
    Pen,
    as_text,
    dress,
    from_zero,
    line,
    log_scale,
    plain,
    shown,
    thread_axis,
)
from mqperf.figures.palette import DASHES, MARKERS, assigned, spread
from mqperf.figures.saturation import saturation
from mqperf.tables import told_by_processes
from mqperf.test_cases import TEST_CASES

LEGEND_COLUMNS = 3
"""As many entries of a legend as stand side by side above a third of a sheet."""

FACTORS = ("green_threads", "processes")
"""Of which the number of threads is the product, with the hosts; not all rows have them."""

_PERCENTILES = ("latency_p50_s", "latency_p95_s", "latency_p99_s")
_COUNTS = {"sent": palette.SENT, "received": palette.RECEIVED, "round_trip": palette.REPLIED}
_FAULTS = {"lost": palette.LOST, "errors": palette.FAILED, "duplicates": palette.DOUBLED}


def throughput(
    points: pd.DataFrame,
    axes: Axes,
    *,
    doubted: Collection[str] = (),
    saturation_points: pd.DataFrame | None = None,
) -> Axes:
    """Throughput against threads.  ``doubted`` names the points to be drawn hollow.

    ``saturation_points`` is the row of the sweep, whose saturation point and peak are marked where
    they lie inside it; those of several curves would hide each other.
    """
    _sweep(points, "throughput_msg_s", axes, Pen(palette.THROUGHPUT), doubted)
    _name_markers(points, axes)
    _against_threads(axes, COLUMNS["throughput_msg_s"].heading(), columns=LEGEND_COLUMNS)
    if saturation_points is not None and len(saturation_points) == 1 and len(points):
        saturation(saturation_points, axes, (points["threads"].min(), points["threads"].max()))
    return axes


def latency(
    points: pd.DataFrame, axes: Axes, *, doubted: Collection[str] = (), subject: str = ""
) -> Axes:
    """p50, p95 and p99 against threads, on a log axis; the mean where there are no percentiles.

    ``subject`` says which latency it is: round-trip or one-way.
    """
    columns = [name for name in _PERCENTILES if points[name].notna().any()] or ["latency_mean_s"]
    for column, dash in zip(columns, DASHES, strict=False):
        pen = Pen(palette.LATENCY, COLUMNS[column].label, dash)
        _sweep(points, column, axes, pen, doubted)
    _name_markers(points, axes)
    dress(axes, COLUMNS["latency_mean_s"].heading(subject), legend_columns=LEGEND_COLUMNS)
    thread_axis(axes)
    log_scale(axes)
    return axes


def broker_cpu(
    points: pd.DataFrame, axes: Axes, *, doubted: Collection[str] = (), subject: str = ""
) -> Axes:
    """CPU of all broker nodes together, and its system part, against threads.

    ``subject`` is the system's name.
    """
    for column, label, dash in (("cpu_total_cores", "total", "-"), ("cpu_sys_cores", "sys", "--")):
        _sweep(points, column, axes, Pen(palette.CPU, label, dash), doubted)
    _name_markers(points, axes)
    heading = COLUMNS["cpu_total_cores"].heading(subject)
    return _against_threads(axes, heading, columns=LEGEND_COLUMNS)


def node_cpu(cpu: pd.DataFrame, axes: Axes) -> Axes:
    """CPU of each broker node against threads: solid the total, dashed its system part.

    Of the ``cpu`` table it takes the totals over the window; repeats of a point are averaged.
    """
    nodes = cpu[(cpu["scope"] == "window") & (cpu["kind"] == "broker")]
    names = nodes["process"].unique()
    for place, name in enumerate(names):
        mean = _over_repeats(nodes[nodes["process"] == name], ["total_cores", "sys_cores"])
        shade = assigned(palette.NODES, names, name)
        for number, (load, rows) in enumerate(_curves(mean)):
            marker = MARKERS[(place + number * len(names)) % len(MARKERS)]
            of = f", {load}" if load else ""
            line(rows, "total_cores", axes, Pen(shade, f"{name} total{of}", "-", marker))
            line(rows, "sys_cores", axes, Pen(shade, f"{name} sys{of}", "--", marker))
    return _against_threads(axes, COLUMNS["cpu_total_cores"].heading())


def message_count(messages: pd.DataFrame, axes: Axes) -> Axes:
    """Messages sent, received and replied to, against threads; repeats of a point are averaged."""
    mean = _over_repeats(messages, list(_COUNTS))
    for (column, shade), dash, marker in zip(_COUNTS.items(), DASHES, "ox+", strict=True):
        _sweep(mean, column, axes, Pen(shade, COLUMNS[column].label, dash, marker))
    _name_markers(mean, axes)
    return _against_threads(axes, COLUMNS["count"].heading())


def message_faults(messages: pd.DataFrame, axes: Axes) -> Axes:
    """Messages lost, refused and handled twice, against threads; repeats are averaged."""
    mean = _over_repeats(messages, list(_FAULTS))
    for column, shade in _FAULTS.items():
        marker = assigned(MARKERS, _FAULTS, column)
        _sweep(mean, column, axes, Pen(shade, COLUMNS[column].label, "-", marker))
    _name_markers(mean, axes)
    _against_threads(axes, COLUMNS["count"].heading("faulty"))
    if axes.has_data():
        axes.set_ylim(top=max(axes.get_ylim()[1], 10))
    return axes


def over_time(intervals: pd.DataFrame, axes: Axes, outages: pd.DataFrame) -> Axes:
    """Throughput in each second of the load, one line per run, coloured by threads.

    Seconds outside the measured window are shaded, and the time of an action in another colour.
    """
    finished = finished_messages(intervals)
    for start, end in _outside(finished):
        axes.axvspan(start, end, color=palette.BOX.light, linewidth=0, zorder=0.5)
    actions = outages.drop_duplicates(["action", "node", "commanded_s"])
    for label, start, end in actions[["action", "began_s", "ended_s"]].itertuples(index=False):
        shaded = start - 0.5, end - 0.5  # a second is drawn at its start, as its middle
        axes.axvspan(*shaded, color=palette.ACTION.light, linewidth=0, zorder=0.6, label=label)
    loads = list(by_load(finished))
    for place, (name, some) in enumerate(loads):
        shade = spread(palette.THREADS, place, len(loads))
        for number, (_run, rows) in enumerate(some.groupby("run")):
            label = name if number == 0 else "_"
            values = rows["count"].to_numpy(dtype=float)
            seconds = rows["start_s"].to_numpy(dtype=float)
            axes.plot(seconds, values, color=shade.light, linewidth=1.3, label=label)
    axes.set_xlabel(COLUMNS["start_s"].heading(), fontsize=9)
    from_zero(axes)
    return dress(axes, COLUMNS["throughput_msg_s"].heading(), legend_columns=8)


def finished_messages(intervals: pd.DataFrame) -> pd.DataFrame:
    """Messages finished in each second: ``run``, ``threads``, ``start_s``, ``phase``, ``count``.

    Replies where there are any, else messages received; all processes of a run together.
    """
    streams = intervals["stream"]
    rows = intervals[streams == ("round-trip" if (streams == "round-trip").any() else "received")]
    told = [name for name in FACTORS if name in rows.columns]
    second = ["run", "point", "threads", *told, "start_s", "phase"]
    return rows.groupby(second, as_index=False, dropna=False)[["count"]].sum()


def by_load(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows by number of threads, and of processes where it tells points apart, each named."""
    apart = "processes" in rows.columns and told_by_processes(rows)
    for keys, some in rows.groupby(["threads", "processes"] if apart else ["threads"]):
        threads, *processes = keys
        name = f"{threads} thread{'' if threads == 1 else 's'}"
        yield ", ".join([name, *map(_processes, processes)]), some


def _outside(finished: pd.DataFrame) -> Iterator[tuple[float, float]]:
    """From when to when the load was no measurement, with half a second on both sides."""
    for _phase, rows in finished[finished["phase"] != "window"].groupby("phase"):
        yield float(rows["start_s"].min()) - 0.5, float(rows["start_s"].max()) + 0.5


def topologies(points: pd.DataFrame, axes: Axes, *, doubted: Collection[str] = ()) -> Axes:
    """Throughput against threads of one test case: a line per topology and kind of queue."""
    layouts = points[["topology", "queues"]].drop_duplicates()
    for topology, queues in layouts.itertuples(index=False):
        rows = points[(points["topology"] == topology) & (points["queues"] == queues)]
        kind, place = labels.order(topology, queues)
        pen = Pen(
            shade=palette.TOPOLOGIES[place % len(palette.TOPOLOGIES)],
            label=labels.layout(topology, queues),
            dash=DASHES[kind % len(DASHES)],
            marker=MARKERS[place % len(MARKERS)],
        )
        for number, (name, curve) in enumerate(_curves(rows)):
            marker = MARKERS[(place + number) % len(MARKERS)]
            label = ", ".join(filter(None, [pen.label, name]))
            own = replace(pen, label=label, marker=marker)
            line(curve, "throughput_msg_s", axes, own, doubted=doubted)
    return _against_threads(axes, COLUMNS["throughput_msg_s"].heading())


def tops(best: pd.DataFrame, titles: Mapping[str, str], axes: Axes) -> Axes:
    """Bars of the top throughput: rows of ``label``, ``test_case`` and ``throughput_msg_s``.

    ``titles`` names the test cases.  A bar is hollow where ``doubts`` of its row has any.
    """
    cases = [case for case in titles if (best["test_case"] == case).any()]
    names = list(best["label"].unique())
    height = 0.8 / max(len(cases), 1)
    for number, case in enumerate(cases):
        rows = best[best["test_case"] == case]
        places = [names.index(name) + number * height for name in rows["label"]]
        values = shown(rows, "throughput_msg_s")
        shade = palette.assigned(palette.CASES, TEST_CASES, case).light
        faces = [palette.PAPER.light if doubts else shade for doubts in rows["doubts"]]
        bars = axes.barh(places, values, height * 0.86, color=faces, edgecolor=shade, linewidth=1.2)
        texts = [plain(float(f"{value:.3g}")) for value in values]
        axes.bar_label(bars, texts, padding=4, color=palette.INK.light, fontsize=8.5)
        axes.barh([places[0]], [0], height * 0.86, color=shade, label=titles[case])
    if any(bool(doubts) for doubts in best["doubts"]):
        marks = axes.barh([0], [0], height * 0.86, label="hollow: doubted", linewidth=1.2)
        marks[0].set(facecolor=palette.PAPER.light, edgecolor=palette.FAINT.light)
    axes.set_yticks(
        [place + 0.4 - height / 2 for place in range(len(names))], [as_text(name) for name in names]
    )
    axes.invert_yaxis()
    axes.margins(x=0.1)
    dress(axes, COLUMNS["throughput_msg_s"].heading("top"))
    axes.tick_params(axis="y", labelcolor=palette.INK.light)
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    return axes


def _sweep(
    points: pd.DataFrame, column: str, axes: Axes, pen: Pen, doubted: Collection[str] = ()
) -> None:
    """A column against threads, as one curve or as several with markers of their own."""
    for number, (name, rows) in enumerate(_curves(points)):
        own = replace(pen, label="" if number else pen.label)
        marked = replace(own, marker=MARKERS[number % len(MARKERS)]) if name else own
        line(rows, column, axes, marked, doubted=doubted)


def _name_markers(points: pd.DataFrame, axes: Axes) -> None:
    """What the markers of several curves mean, in the legend."""
    names = [name for name, _ in _curves(points) if name]
    for name, marker in zip(names, cycle(MARKERS), strict=False):
        axes.plot([], [], marker, color=palette.FAINT.light, label=name)


def _curves(points: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Name and points of each curve of a sweep: usually one, without a name.

    Where ``told_by_processes`` says so, every number of processes is a curve of its own.
    """
    if "processes" not in points.columns or not told_by_processes(points):
        yield "", points
        return
    for processes, rows in points.groupby("processes", dropna=False):
        yield _processes(processes), rows


def _processes(count: object) -> str:
    return f"{count} process{'' if count == 1 else 'es'}"


def _against_threads(axes: Axes, title: str, *, columns: int = 6) -> Axes:
    thread_axis(axes)
    from_zero(axes)
    return dress(axes, title, legend_columns=columns)


def _over_repeats(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The mean of the columns at each point."""
    told = [name for name in FACTORS if name in rows.columns]
    points = rows.groupby(["point", "threads", *told], as_index=False, dropna=False)
    return points[columns].mean()
