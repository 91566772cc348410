"""What notebooks show: one line per cell, so that a notebook tells the story and nothing else."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from IPython.core.getipython import get_ipython
from IPython.display import Markdown, display
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats

from mqperf.base import injected
from mqperf.pages import figures
from mqperf.pages.figures.told import short
from mqperf.pages.report import limits
from mqperf.pages.report.drawings import counting
from mqperf.pages.report.rows import uncertainty
from mqperf.pages.report.tops import tops
from mqperf.pages.report.words import layouts
from mqperf.plan.columns import BACKGROUND, COUNTS, OUTAGES, parameters
from mqperf.plan.test_cases import TEST_CASES, in_unit, unit_of
from mqperf.study import tables
from mqperf.study.stats.survivors import survivors
from mqperf.study.tables import (
    Tables,
    by_layout,
    conditions,
    over_repeats,
    select,
    shown,
    varied,
    with_parameters,
)
from mqperf.study.tables.axes import LAYOUT, SWEEP
from mqperf.study.tables.places import CONDITION

ROOT_MARK = "notebooks"
"""The folder by which the root of a checkout is known."""

FIGURES_OF_POINTS = (
    *("throughput_msg_s", "latency_mean_s", "latency_p50_s", "latency_p99_s"),
    *("cpu_total_cores", "repeats", "failed"),
)
AXES = (*LAYOUT, "threads")
POINT = (*AXES, "processes")
"""What tells points apart: 10 threads may be 10 in one process, or 5 in each of two.

Parameters that vary tell them apart, too."""


def set_up() -> None:
    """Draw figures as SVG, and as PNG beside it: an untrusted notebook does not show SVG.

    Tables are shown whole, and what stands in them as text, not as a formula.  Raises
    ``MqperfError`` for parameters from papermill that the notebook does not have.
    """
    if (shell := get_ipython()) is not None and shell.history_manager is not None:
        injected.check(shell.history_manager.input_hist_raw[1:], shell.user_ns)
    set_matplotlib_formats("svg", "png")
    for whole in ("display.max_columns", "display.max_rows", "display.max_colwidth"):
        pd.set_option(whole, None)
    pd.set_option("display.precision", 1)
    pd.options.display.html.use_mathjax = False


def located(path: str | os.PathLike[str]) -> Path:
    """A path as given; in a notebook also one below the root of the checkout that it stands in."""
    given, here = Path(path), Path.cwd()
    if given.is_absolute() or given.exists() or get_ipython() is None:
        return given
    roots = (folder for folder in (here, *here.parents) if (folder / ROOT_MARK).is_dir())
    return next((root / given for root in roots), given)


def as_html(frame: pd.DataFrame) -> str:
    """A table as a cell shows it, its numbers as short as they are read."""
    return frame.to_html(index=False, na_rep="", float_format=short)


def message_processing(found: Tables, test_case: str) -> pd.DataFrame:
    """Message counts of every whole run of a test case."""
    own = _own(found, test_case)
    return _readable(_with_parameters(own["messages"], own), COUNTS)


def throughput_latency_cpu(found: Tables, test_case: str) -> pd.DataFrame:
    """Figures of every point of a test case."""
    rows = _unsure(_own(found, test_case))
    return _readable(rows, (*FIGURES_OF_POINTS, *_clocks(rows)))


def node_cpu(found: Tables, test_case: str) -> pd.DataFrame:
    """CPU over the window, total and system, of every process: brokers, clients, servers, host."""
    own = _own(found, test_case)
    cpu = _with_parameters(own["cpu"], own)
    window = cpu[cpu["scope"] == "window"].sort_values(["kind", "process"], kind="stable")
    used = over_repeats(window, ["total_cores", "sys_cores"], "process")
    keys, figures = _point(used), ("total_cores", "sys_cores")
    readable = shown(used, *keys, "process", *figures)
    return readable.pivot_table(index=list(readable)[: len(keys)], columns="process", sort=False)


def cpu_by_probe(runs: str) -> pd.DataFrame:
    """CPU of every process over the window, in cores, by each probe that recorded it.

    ``given`` is what tables and pages have.  Raises ``MqperfError`` for a run that cannot be read.
    """
    folder = located(runs)
    by_probe = {"given": tables.read(folder)["cpu"], **tables.overlapping(folder, "cpu")}
    rows = [rows[rows["scope"] == "window"].assign(probe=name) for name, rows in by_probe.items()]
    index = ["run", "host", "process"]
    return pd.concat(rows).pivot_table("total_cores", index, "probe", sort=False)


def each(found: Tables, view: Callable[[Tables, str], pd.DataFrame | None]) -> None:
    """Show one view of every test case that was measured, each below its name."""
    measured = set(found["points"].dropna(subset=["throughput_msg_s"])["test_case"])
    for name, test_case in TEST_CASES.items():
        if name in measured:
            display(Markdown(f"### {test_case.title}"))
            if (shown := view(found, name)) is not None:
                display(shown)


def outages(found: Tables) -> pd.DataFrame:
    """What each action of the plan did to a run: downtime, outage and recovery."""
    rows = _with_parameters(found["outages"], found)
    return _indexed(rows, (*_point(rows), "repeat"), OUTAGES)


def background(found: Tables) -> pd.DataFrame:
    """The figures of every background load of a run."""
    rows = _with_parameters(found["background"], found)
    keys, columns = (*_point(rows), "repeat"), (*BACKGROUND, *_clocks(rows))
    return shown(rows, *keys, *columns).pipe(_by_keys, keys)  # in the unit of messages


def show_outages(found: Tables) -> None:
    """Show them under a heading of their own; nothing where the plan disturbs nothing."""
    if len(found["outages"]):
        text = (
            "What each action of the plan did: how long it went on, how long no message was"
            " finished, and how long throughput took to come back."
        )
        display(Markdown(f"## Outages\n\n{text}"), outages(found))


def show_background(found: Tables) -> None:
    """Show them under a heading of their own; nothing where the plan asks for no such load."""
    if len(found["background"]):
        text = "Loads that flowed beside the measured one; no other figure counts their messages."
        display(Markdown(f"## Background load\n\n{text}"), background(found))


def doubts(found: Tables) -> pd.DataFrame:
    """Every reason to distrust a number, beside the point it is about."""
    return _placed(found, "doubts", "kind", "text")


def measured_layouts(
    found: Tables, test_case: str
) -> Iterator[tuple[str, Mapping[str, pd.DataFrame]]]:
    """Each layout on which a test case was measured: in words, and its tables of that test case."""
    own = _own(found, test_case)
    return by_layout(own, own["points"].dropna(subset=["throughput_msg_s"]))


def doubted_points(found: Tables) -> set[str]:
    """The points that any doubt is about."""
    return set(found["doubts"]["point"].dropna())


def show_sweeps(found: Tables, test_case: str) -> None:
    """Draw throughput, latency and CPU of each sweep, a sheet for each layout of a system.

    Where two axes vary, a map of the throughput at all their combinations follows.
    """
    for title, part in measured_layouts(found, test_case):
        display(Markdown(title), sweep_of(part))
        if (combinations := figures.map_sheet(part["points"])) is not None:
            display(_counting(combinations, part))


def sweep_of(found: Tables, metric: str = "") -> Figure:
    """Throughput, latency and CPU of one sweep, along what varies in it; doubted points hollow.

    Or one of ``figures.METRICS`` alone.
    """
    points, doubted = _unsure(found), doubted_points(found)
    sheet = (
        figures.metric_sheet(points, metric, doubted=doubted)
        if metric
        else figures.sweep_sheet(points, doubted=doubted)
    )
    return _counting(sheet, found)


def _counting(sheet: Figure, found: Tables) -> Figure:
    """The sheet in the unit of its test case; names of conditions stay."""
    return counting(sheet, _unit(found["points"]), list(conditions(found)[CONDITION]))


def show_nodes(found: Tables, test_case: str) -> None:
    """Draw the CPU of each broker node, a sheet for each layout of a system."""
    for title, part in measured_layouts(found, test_case):
        display(Markdown(title), figures.node_sheet(with_parameters(part["cpu"], part["runs"])))


def show_seconds(found: Tables, test_case: str) -> None:
    """Draw the throughput of every run second by second, by system, topology and queues."""
    for title, part in measured_layouts(found, test_case):
        intervals = with_parameters(part["intervals"], part["runs"])
        sheet = figures.time_sheet(intervals, part["outages"])
        display(Markdown(title), _counting(sheet, part))


def overview(found: Tables) -> pd.DataFrame:
    """What each topology and test case sustains, where, and the raw maximum; and doubts.

    ``sustained`` is empty where no point keeps up beyond doubt: the rest of that row is about the
    raw maximum.
    """
    best = tops(found, layouts(found["runs"]))
    best = best.assign(
        sustained_throughput_msg_s=best["throughput_msg_s"].where(best["sustained"].astype(bool)),
        highest_throughput_msg_s=best["top_throughput_msg_s"],
        bottleneck=best["point"].map(limits.of_points(found)),
    )
    columns = SWEEP
    rates = ("sustained_throughput_msg_s", "highest_throughput_msg_s")
    where = ("threads", *varied(found["points"]), "latency_p50_s", "latency_p99_s", "bottleneck")
    told = shown(best, *columns, *rates, *where).rename(columns=partial(in_unit, unit=_unit(best)))
    told = told.assign(doubts=best["doubts"].map(", ".join))
    remarks = best["point"].map(survivors(found))
    return told.assign(remarks=remarks.fillna("")) if remarks.notna().any() else told


def show_overview(found: Tables) -> None:
    """Draw what each layout sustains, a bar for each test case; doubted ones hollow."""
    best = tops(found, layouts(found["runs"]))
    if len(best["system"].unique()) > 1:
        best["label"] = best["system"] + ": " + best["label"]
    display(figures.top_sheet(best, {name: name for name in TEST_CASES}))


def bottlenecks(found: Tables) -> pd.DataFrame:
    """The bottleneck of each run, and the figures that this rests on."""
    return _placed(found, "bottlenecks", "bottleneck", "because")


def saturation_points(found: Tables) -> pd.DataFrame:
    """Where each sweep saturates, as a sentence."""
    return found["saturation_points"][[*SWEEP, "text"]]


def ratios(comparison: pd.DataFrame) -> pd.DataFrame:
    """The comparison without what only its checks need."""
    columns = ("figure", "value_a", "value_b", "ratio", "ratio_low", "ratio_high", "verdict")
    apart = [name for name in parameters() if name in comparison.columns]
    clocks = ["clock_share"] if comparison["clock_share"].gt(0).any() else []
    return comparison[["test_case", *AXES, *apart, *columns, *clocks, "doubted"]]


def _readable(rows: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    present = [name for name in columns if rows[name].notna().any()]
    return _indexed(rows, _point(rows), present)


def _indexed(rows: pd.DataFrame, keys: tuple[str, ...], columns: Sequence[str]) -> pd.DataFrame:
    readable = shown(rows, *keys, *columns).rename(columns=partial(in_unit, unit=_unit(rows)))
    return _by_keys(readable, keys)


def _by_keys(readable: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    return readable.set_index(list(readable)[: len(keys)])


def _unit(rows: pd.DataFrame) -> str:
    """What rows count: of several test cases each unit, once."""
    return unit_of(*rows["test_case"].unique())


def _unsure(found: Tables) -> pd.DataFrame:
    """The points, with what clocks of several hosts may make their latencies wrong by, if any."""
    points = found["points"]
    return points.assign(**uncertainty(found["latency"], points["point"]))


def _clocks(rows: pd.DataFrame) -> tuple[str, ...]:
    """The column that says so, where there is anything to say."""
    name = "latency_uncertainty_s"
    return (name,) if name in rows.columns and rows[name].gt(0).any() else ()


def _with_parameters(rows: pd.DataFrame, found: Tables) -> pd.DataFrame:
    """The rows with the parameters of their run; 1 process where the number is not known."""
    known = with_parameters(rows, found["runs"])
    return known.assign(processes=known["processes"].fillna(1))


def _placed(found: Tables, table: str, *columns: str) -> pd.DataFrame:
    """Columns of a table beside the points that its rows are about."""
    rows = with_parameters(found[table], found["runs"])
    return rows[[*AXES, *varied(found["runs"]), "test_case", *columns]]


def _point(rows: pd.DataFrame) -> tuple[str, ...]:
    """The columns that tell these points apart."""
    return (*POINT, *(name for name in varied(rows) if name not in POINT))


def _own(found: Tables, test_case: str) -> Tables:
    return select(found, test_case=test_case)
