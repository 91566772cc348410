"""Panels: functions that draw a table on an ``Axes``."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from mqperf.pages.figures import palette
from mqperf.pages.figures.curves import Sweep, pens_of_layouts, shades_of, swept
from mqperf.pages.figures.marks import (
    LEGEND_COLUMNS,
    Pen,
    as_shown,
    as_text,
    dress,
    from_zero,
    line,
    log_scale,
    plain,
    shown,
    sweep_axis,
)
from mqperf.pages.figures.palette import DASHES, FAINT, MARKERS, Shade, assigned, spread
from mqperf.pages.figures.run_seconds import finished_rows, phases
from mqperf.pages.figures.saturation import as_offered, saturation
from mqperf.pages.figures.told import tell
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.plan.test_cases import TEST_CASES, in_unit, unit_of
from mqperf.study.tables import arranged, over_repeats, where
from mqperf.study.tables.axes import FACTORS, split, varied
from mqperf.study.tables.axis_words import worded
from mqperf.study.tables.clocks import LARGE_SHARE, UNSURE
from mqperf.study.tables.places import CONDITION

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
    """Draw throughput against the sweep's first axis; ``doubted`` are the points drawn hollow.

    For a sweep of threads ``saturation_points`` is its row of that table: saturation point and
    peak are marked where they lie inside the sweep, unless there are several curves, whose marks
    would hide each other.  For a sweep of offered rates it has the rows of ``saturation_rates``,
    and the offered rate is drawn as well.
    """
    sweep = swept(points)
    if saturation_points is not None and sweep.x == "rate_msg_s":
        as_offered(points, saturation_points, axes)
    _draw(sweep, "throughput_msg_s", axes, Pen(palette.THROUGHPUT), doubted)
    name_curves(sweep, axes)
    _finish(sweep, axes, COLUMNS["throughput_msg_s"].heading(), columns=LEGEND_COLUMNS)
    one_sweep = saturation_points is not None and len(saturation_points) == 1 and len(points)
    if saturation_points is not None and one_sweep and sweep.x == "threads":
        saturation(saturation_points, axes, (points["threads"].min(), points["threads"].max()))
    return axes


def latency(
    points: pd.DataFrame,
    axes: Axes,
    *,
    doubted: Collection[str] = (),
    subject: str = "",
    named: bool = True,
) -> Axes:
    """Draw p50, p95 and p99 on a log axis, and the mean if some point has no percentiles.

    ``subject`` is the kind of latency: round-trip or one-way.  Unless ``named``, the legend omits
    the names of curves, for use beside a panel that names them.
    """
    columns = [name for name in _PERCENTILES if points[name].notna().any()]
    if (points["latency_p50_s"].isna() & points["latency_mean_s"].notna()).any():
        columns = ["latency_mean_s", *columns[: len(DASHES) - 1]]
    sweep = swept(points)
    for column, dash in zip(columns, DASHES, strict=False):
        pen = Pen(palette.LATENCY, COLUMNS[column].label, dash)
        _draw(sweep, column, axes, pen, doubted)
    if named:
        name_curves(sweep, axes)
    dress(axes, COLUMNS["latency_mean_s"].heading(subject), legend_columns=LEGEND_COLUMNS)
    sweep_axis(axes, sweep.x, sweep.texts)
    log_scale(axes)
    _note_clocks(points, axes)
    return axes


def _note_clocks(points: pd.DataFrame, axes: Axes) -> None:
    """Note the largest clock uncertainty of these latencies, where it is a large share of any."""
    if UNSURE not in points.columns:
        return
    typical = points["latency_p50_s"].fillna(points["latency_mean_s"])
    uncertain = points[points[UNSURE] > LARGE_SHARE * typical.abs()]
    if len(uncertain):
        error = uncertain[UNSURE].max() * COLUMNS[UNSURE].scale
        text = as_text(f"± {error:.2g} {COLUMNS[UNSURE].shown} by clocks")
        note = axes.text(0.98, 0.03, text, color=palette.INK.light, transform=axes.transAxes)
        note.set(horizontalalignment="right", fontsize=8)


def broker_cpu(
    points: pd.DataFrame,
    axes: Axes,
    *,
    doubted: Collection[str] = (),
    subject: str = "",
    named: bool = True,
) -> Axes:
    """Draw the CPU of all broker nodes together, and its system part.

    ``subject`` is the system's name; ``named`` is as for ``latency``.
    """
    sweep = swept(points)
    for column, label, dash in (("cpu_total_cores", "total", "-"), ("cpu_sys_cores", "sys", "--")):
        _draw(sweep, column, axes, Pen(palette.CPU, label, dash), doubted)
    if named:
        name_curves(sweep, axes)
    heading = COLUMNS["cpu_total_cores"].heading(subject)
    return _finish(sweep, axes, heading, columns=LEGEND_COLUMNS)


def cpu_per_message(
    points: pd.DataFrame, axes: Axes, *, doubted: Collection[str] = (), subject: str = ""
) -> Axes:
    """Draw the CPU of all broker nodes per finished message; ``subject`` is the system's name."""
    sweep = swept(points)
    _draw(sweep, "cpu_per_message_s", axes, Pen(palette.CPU), doubted)
    name_curves(sweep, axes)
    heading = COLUMNS["cpu_per_message_s"].heading(subject)
    return _finish(sweep, axes, heading, columns=LEGEND_COLUMNS)


def node_cpu(cpu: pd.DataFrame, axes: Axes) -> Axes:
    """Draw the CPU of each broker node: solid the total, dashed its system part.

    The rows of the ``cpu`` table with the scope ``window`` are drawn, averaged over repeats.
    """
    nodes = cpu[(cpu["scope"] == "window") & (cpu["kind"] == "broker")]
    names = nodes["process"].unique()
    mean = over_repeats(nodes, ["total_cores", "sys_cores"], "process")
    sweep = swept(mean, coloured=False)
    for index, name in enumerate(names):
        shade = assigned(palette.NODES, names, name)
        for number, curve in enumerate(sweep.of(process=name).curves):
            marker = MARKERS[(index + number * len(names)) % len(MARKERS)]
            suffix = f", {curve.name}" if curve.name else ""
            for column, label, dash in (("total_cores", "total", "-"), ("sys_cores", "sys", "--")):
                line(curve.rows, column, axes, Pen(shade, f"{name} {label}{suffix}", dash, marker))
    return _finish(sweep, axes, COLUMNS["cpu_total_cores"].heading())


def message_count(messages: pd.DataFrame, axes: Axes) -> Axes:
    """Draw the numbers of messages sent, received and replied to, averaged over repeats."""
    sweep = swept(over_repeats(messages, list(_COUNTS)), coloured=False)
    for (column, shade), dash, marker in zip(_COUNTS.items(), DASHES, "ox+", strict=False):
        _draw(sweep, column, axes, Pen(shade, COLUMNS[column].label, dash, marker))
    name_curves(sweep, axes)
    return _finish(sweep, axes, COLUMNS["count"].heading())


def message_faults(messages: pd.DataFrame, axes: Axes) -> Axes:
    """Draw the numbers of messages lost, refused and handled twice, averaged over repeats.

    Dashes keep the line of lost messages visible where as many ended in an error.
    """
    sweep = swept(over_repeats(messages, list(_FAULTS)), coloured=False)
    for (column, shade), dash in zip(_FAULTS.items(), DASHES, strict=False):
        marker = assigned(MARKERS, _FAULTS, column)
        _draw(sweep, column, axes, Pen(shade, COLUMNS[column].label, dash, marker))
    name_curves(sweep, axes)
    _finish(sweep, axes, COLUMNS["count"].heading("faulty"))
    if axes.has_data():
        axes.set_ylim(top=max(axes.get_ylim()[1], 10))
    return axes


def over_time(
    intervals: pd.DataFrame,
    axes: Axes,
    outages: pd.DataFrame,
    *,
    among: pd.DataFrame | None = None,
) -> Axes:
    """Draw throughput in each second of the load, one line per run, coloured by the sweep's axes.

    For panels of one sheet ``among`` has the rows of all panels, so that a condition has the same
    colour in each.  A second is drawn at its middle.  Seconds outside the measured window are
    shaded, and the time of an action in another colour.
    """
    finished = finished_messages(intervals)
    for start, end in phases(finished[finished["phase"] != "window"]).values():
        axes.axvspan(start, end, color=palette.BOX.light, linewidth=0, zorder=0.5)
    actions = outages.drop_duplicates(["action", "node", "commanded_s"])
    for label, start, end in actions[["action", "began_s", "ended_s"]].itertuples(index=False):
        axes.axvspan(start, end, color=palette.ACTION.light, linewidth=0, zorder=0.6, label=label)
    for name, pen, of_point in pens_by_load(finished, intervals if among is None else among):
        look: dict[str, Any] = {"color": pen.shade.light, "linestyle": pen.dash, "linewidth": 1.3}
        for number, (run, rows) in enumerate(of_point.groupby("run")):
            label = name if number == 0 else "_"
            values = rows["count"].to_numpy(dtype=float)
            seconds = rows["start_s"].to_numpy(dtype=float) + 0.5
            (drawn,) = axes.plot(seconds, values, label=label, **look)
            tell(drawn, [as_shown(name)], [f"{name}\n{run}"])
    axes.set_xlabel(COLUMNS["start_s"].heading(), fontsize=9)
    from_zero(axes)
    return dress(axes, COLUMNS["throughput_msg_s"].heading(), legend_columns=8)


def finished_messages(intervals: pd.DataFrame) -> pd.DataFrame:
    """Count messages finished per second: ``run``, ``threads``, ``start_s``, ``phase``, ``count``.

    Replies are counted if there are any, else messages received, over all processes of a run.
    Runs keep the order of the rows, so that conditions have the same colours as in other figures.
    """
    rows = finished_rows(intervals)
    run_columns = [name for name in (*FACTORS, *parameters()) if name in rows.columns]
    keys = ["run", "point", "threads", *dict.fromkeys(run_columns), "start_s", "phase"]
    summed = rows.groupby(keys, as_index=False, dropna=False, sort=False)[["count"]].sum()
    positions = {run: position for position, run in enumerate(rows["run"].unique())}
    ordered = summed.assign(place=summed["run"].map(positions)).sort_values(["place", "start_s"])
    return ordered.drop(columns="place").reset_index(drop=True)


def by_load(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield label and rows of each point; the label has its threads and what else varies."""
    yield from split(rows, ("threads", *varied(rows)))


def pens_by_load(
    rows: pd.DataFrame, among: pd.DataFrame
) -> Iterator[tuple[str, Pen, pd.DataFrame]]:
    """Yield label, pen and rows of each point.

    Where conditions vary ``among`` the rows of a page, each condition has the same colour in every
    figure of the page, and points of one condition differ by their dash.
    """
    loads, points = list(by_load(rows)), among.drop_duplicates("point")
    shades = shades_of(points, CONDITION) if CONDITION in arranged(points).names else {}
    uses: Counter[Shade] = Counter()
    for index, (name, of_point) in enumerate(loads):
        condition = worded(CONDITION, of_point[CONDITION].iloc[0]) if shades else ""
        shade = shades.get(condition) or spread(palette.THREADS, index, len(loads))
        yield name, Pen(shade, dash=DASHES[uses[shade] % len(DASHES) if shades else 0]), of_point
        uses[shade] += 1


def topologies(points: pd.DataFrame, axes: Axes, *, doubted: Collection[str] = ()) -> Axes:
    """Draw the throughput of one test case: a line per topology and kind of queue."""
    sweep = swept(points, coloured=False)
    for (topology, queues), pen in pens_of_layouts(points).items():
        of_layout = sweep.of(topology=topology, queues=queues)
        for number, curve in enumerate(of_layout.curves):
            curve_pen = pen.numbered(number, curve.name)
            line(curve.rows, "throughput_msg_s", axes, curve_pen, doubted=doubted)
    return _finish(sweep, axes, COLUMNS["throughput_msg_s"].heading())


def tops(best: pd.DataFrame, titles: Mapping[str, str], axes: Axes) -> Axes:
    """Draw bars of throughput from rows of ``label``, ``test_case`` and ``throughput_msg_s``.

    ``titles`` has the titles of test cases.  A bar is hollow if its row has ``doubts``.  A dotted
    line leads to the raw maximum, ``top_throughput_msg_s``, where that is higher.
    """
    cases = [case for case in titles if (best["test_case"] == case).any()]
    unit = unit_of(*best["test_case"])
    names = list(best["label"].unique())
    height = 0.8 / max(len(cases), 1)
    for number, case in enumerate(cases):
        rows = where(best, test_case=case)
        positions = [names.index(name) + number * height for name in rows["label"]]
        values = shown(rows, "throughput_msg_s")
        shade = palette.assigned(palette.CASES, TEST_CASES, case).light
        faces = [palette.PAPER.light if doubts else shade for doubts in rows["doubts"]]
        look: dict[str, Any] = {"color": faces, "edgecolor": shade, "linewidth": 1.2}
        bars = axes.barh(positions, values, height * 0.86, **look)
        texts = [plain(float(f"{value:.3g}")) for value in values]
        series = titles[case] if unit_of(case) == unit else f"{titles[case]}, {unit_of(case)}/sec"
        for bar, row in zip(bars, rows.to_dict("records"), strict=True):
            tell(bar, [as_shown(series)], [_bar_tooltip(row, titles[case])])
        box = {"facecolor": palette.PAPER.light, "edgecolor": "none", "pad": 0.5}
        axes.bar_label(bars, texts, padding=4, color=palette.INK.light, fontsize=8.5, bbox=box)
        axes.barh([positions[0]], [0], height * 0.86, color=shade, label=series)
        _raw_maxima(rows, positions, axes, shade)
    if any(bool(doubts) for doubts in best["doubts"]):
        marks = axes.barh([0], [0], height * 0.86, label="hollow: doubted", linewidth=1.2)
        marks[0].set(facecolor=palette.PAPER.light, edgecolor=palette.FAINT.light)
    if best["top_throughput_msg_s"].gt(best["throughput_msg_s"]).any():
        marks = axes.barh([0], [0], height * 0.86, label="dotted: raw maximum", linewidth=1.2)
        marks[0].set(facecolor=palette.PAPER.light, edgecolor=palette.FAINT.light, linestyle=":")
    middles = [number + 0.4 - height / 2 for number in range(len(names))]
    axes.set_yticks(middles, [as_text(name) for name in names])
    axes.invert_yaxis()
    axes.margins(x=0.1)
    of_sound = best.loc[best["sound"].astype(bool), "sustained"]
    sustained = len(of_sound) > 0 and bool(of_sound.all())
    heading = COLUMNS["throughput_msg_s"].heading("sustained" if sustained else "")
    dress(axes, in_unit(heading, unit))
    axes.tick_params(axis="y", labelcolor=palette.INK.light)
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    return axes


def _bar_tooltip(row: Mapping[Any, Any], case: str) -> str:
    """Return throughput of a bar, the point at which it was reached, and its doubts."""
    value = f"{row['throughput_msg_s']:.1f} {unit_of(row['test_case'])}/sec"
    doubts = f"doubts: {', '.join(row['doubts'])}" if row["doubts"] else ""
    return "\n".join(filter(None, [f"{row['label']}: {case}", value, row.get("at"), doubts]))


def _raw_maxima(rows: pd.DataFrame, positions: Sequence[float], axes: Axes, shade: str) -> None:
    """Draw a dotted line from each bar, past its number, to a raw maximum that is higher."""
    maxima, values = (shown(rows, name) for name in ("top_throughput_msg_s", "throughput_msg_s"))
    for y, value, maximum in zip(positions, values, maxima, strict=True):
        if maximum > value:
            axes.plot([value, maximum], [y, y], ":", color=shade, linewidth=1.2, zorder=0.5)
            axes.plot([maximum], [y], "|", color=shade, markersize=8)


def _draw(sweep: Sweep, column: str, axes: Axes, pen: Pen, doubted: Collection[str] = ()) -> None:
    """Draw a column as the curves of a sweep; several have colours and markers of their own."""
    for curve in sweep.curves:
        line(curve.rows, column, axes, curve.look(pen), doubted=doubted)
    if len(sweep.curves) > 1 and pen.label:
        shade = FAINT if any(curve.shade for curve in sweep.curves) else pen.shade
        axes.plot([], [], pen.dash, color=shade.light, linewidth=1.8, label=as_text(pen.label))


def name_curves(sweep: Sweep, axes: Axes) -> None:
    """Add legend entries for the colours and markers of several curves."""
    for curve in sweep.curves:
        if curve.name:
            shade = curve.shade or FAINT
            axes.plot([], [], curve.marker, color=shade.light, label=as_text(curve.name))


def _finish(sweep: Sweep, axes: Axes, title: str, *, columns: int = 6) -> Axes:
    sweep_axis(axes, sweep.x, sweep.texts)
    from_zero(axes)
    return dress(axes, title, legend_columns=columns)
