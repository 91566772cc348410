"""What notebooks call: one line per cell, so that a notebook tells the story and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml
from IPython.display import Markdown, display
from matplotlib_inline.backend_inline import set_matplotlib_formats
from rich.console import Console

from mqperf import figures, stats, tables
from mqperf.columns import BACKGROUND, COUNTS, OUTAGES, parameters
from mqperf.errors import MqperfError
from mqperf.plan import Plan
from mqperf.plan_file import load_plan, plan_from
from mqperf.progress import Bar
from mqperf.report.build import publish as publish_report
from mqperf.report.rows import uncertainty
from mqperf.report.tops import tops
from mqperf.report.words import layouts
from mqperf.runner import sweep
from mqperf.systems.in_plans import problems_of
from mqperf.tables import (
    Tables,
    over_repeats,
    select,
    shown,
    varied,
    with_parameters,
)
from mqperf.test_cases import TEST_CASES

ROOT_MARK = "notebooks"
"""The folder by which the root of a checkout is known."""

SWEEP = (
    *("throughput_msg_s", "latency_mean_s", "latency_p50_s", "latency_p99_s"),
    *("cpu_total_cores", "repeats", "failed"),
)
AXES = ("system", "topology", "queues", "threads")
POINT = (*AXES, "processes")
"""What tells points apart: 10 threads may be 10 in one process, or 5 in each of two.

Parameters that vary tell them apart, too."""


def set_up() -> None:
    """Draw figures as SVG, and as PNG beside it: an untrusted notebook does not show SVG.

    Tables are shown whole, and what stands in them as text, not as a formula.
    """
    set_matplotlib_formats("svg", "png")
    for whole in ("display.max_columns", "display.max_rows", "display.max_colwidth"):
        pd.set_option(whole, None)
    pd.set_option("display.precision", 1)
    pd.options.display.html.use_mathjax = False


def located(path: str) -> Path:
    """A path as given, or below the root of the checkout in which the notebook stands."""
    given, here = Path(path), Path.cwd()
    if given.is_absolute() or given.exists():
        return given
    roots = (folder for folder in (here, *here.parents) if (folder / ROOT_MARK).is_dir())
    return next((root / given for root in roots), given)


def plan_of(file: str, **parameters: object) -> Plan:
    """The plan in ``file``, or when that is empty the one which the parameters describe.

    The parameters are ``system``, ``topologies``, ``queues``, ``test_cases``, ``green_threads``
    and ``duration_s``.  Raises ``PlanError`` with every problem.
    """
    if file:
        return load_plan(located(file), problems_of)
    system = parameters.pop("system")
    axes = {name: parameters.pop(name) for name in ("topologies", "queues")}
    load = {name: parameters.pop(name) for name in ("green_threads", "duration_s")}
    named = {"name": "notebook", "title": "From a notebook"}
    data = named | {"systems": {system: axes}, "load": load} | parameters
    return plan_from(data, "the notebook's parameters", problems_of)


def measure(plan: Plan, runs: str) -> None:
    """Run what is pending of the plan; with nothing pending no system is started.

    Raises ``MqperfError`` when runs failed; all others are recorded.
    """
    folder = located(runs)
    with Bar(Console()) as bar:
        outcome = sweep(plan, yaml.safe_dump(plan.model_dump(mode="json")), folder, bar)
    if outcome.failed:
        raise MqperfError("; ".join(reason for _, reason in outcome.failed))


def results(runs: str) -> dict[str, pd.DataFrame]:
    """All tables of a runs folder, or of a published report, with points and doubts.

    Points that the folder's plan does not ask for are left out; the doubts name them.
    """
    return dict(tables.of_plan(stats.complete(tables.read(located(runs)))))


def message_processing(found: Tables, test_case: str) -> pd.DataFrame:
    """Message counts of every whole run of a test case."""
    own = _own(found, test_case)
    return _readable(_with_parameters(own["messages"], own), COUNTS)


def throughput_latency_cpu(found: Tables, test_case: str) -> pd.DataFrame:
    """Figures of every point of a test case."""
    rows = _unsure(_own(found, test_case))
    return _readable(rows, (*SWEEP, *_clocks(rows)))


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


def outages(found: Tables) -> pd.DataFrame:
    """What each action of the plan did to a run: downtime, outage and recovery."""
    rows = _with_parameters(found["outages"], found)
    return _indexed(rows, (*_point(rows), "repeat"), OUTAGES)


def background(found: Tables) -> pd.DataFrame:
    """The figures of every background load of a run."""
    rows = _with_parameters(found["background"], found)
    return _indexed(rows, (*_point(rows), "repeat"), (*BACKGROUND, *_clocks(rows)))


def show_background(found: Tables) -> None:
    """Show them under a heading of their own; nothing where the plan asks for no such load."""
    if len(found["background"]):
        text = "Loads that flowed beside the measured one; no other figure counts their messages."
        display(Markdown(f"## Background load\n\n{text}"), background(found))


def doubts(found: Tables) -> pd.DataFrame:
    """Every reason to distrust a number, beside the point it is about."""
    return _placed(found, "doubts", "kind", "text")


def show_sweeps(found: Tables, test_case: str) -> None:
    """Draw throughput, latency and CPU of each sweep, a sheet for each layout of a system.

    Where two axes vary, a map of the throughput at all their combinations follows.
    """
    for title, part in _layouts(_own(found, test_case)):
        display(Markdown(title), figures.sweep_sheet(_unsure(part), doubted=_doubted(part)))
        if (combinations := figures.map_sheet(part["points"])) is not None:
            display(combinations)


def show_nodes(found: Tables, test_case: str) -> None:
    """Draw the CPU of each broker node, a sheet for each layout of a system."""
    for title, part in _layouts(_own(found, test_case)):
        display(Markdown(title), figures.node_sheet(with_parameters(part["cpu"], part["runs"])))


def show_seconds(found: Tables, test_case: str) -> None:
    """Draw the throughput of every run second by second, by system, topology and queues."""
    for title, part in _layouts(_own(found, test_case)):
        intervals = with_parameters(part["intervals"], part["runs"])
        display(Markdown(title), figures.time_sheet(intervals, part["outages"]))


def overview(found: Tables) -> pd.DataFrame:
    """Top throughput of each topology and test case, where it was reached, and doubts.

    The top is the best of the sound points; where none is sound, of the doubted ones.
    """
    best = tops(found, layouts(found["runs"]))
    columns = ("system", "topology", "queues", "test_case", "throughput_msg_s", "threads")
    table = shown(best, *columns, *varied(found["points"]))
    return table.assign(doubts=best["doubts"].map(", ".join))


def show_overview(found: Tables) -> None:
    """Draw the top throughput of each layout, a bar for each test case; doubted ones hollow."""
    best = tops(found, layouts(found["runs"]))
    if len(best["system"].unique()) > 1:
        best["label"] = best["system"] + ": " + best["label"]
    display(figures.top_sheet(best, {name: name for name in TEST_CASES}))


def bottlenecks(found: Tables) -> pd.DataFrame:
    """The bottleneck of each run, and the figures that this rests on."""
    return _placed(found, "bottlenecks", "bottleneck", "because")


def saturation_points(found: Tables) -> pd.DataFrame:
    """Where each sweep saturates, as a sentence."""
    return found["saturation_points"][["system", "topology", "queues", "test_case", "text"]]


def compared(before: str, after: str) -> dict[str, pd.DataFrame]:
    """The tables ``differences`` and ``comparison`` of two runs folders, or published reports."""
    a, b = (stats.complete(tables.read(located(path))) for path in (before, after))
    return stats.compared(a, b)


def ratios(comparison: pd.DataFrame) -> pd.DataFrame:
    """The comparison without what only its checks need."""
    columns = ("figure", "value_a", "value_b", "ratio", "ratio_low", "ratio_high", "verdict")
    apart = [name for name in parameters() if name in comparison.columns]
    clocks = ["clock_share"] if comparison["clock_share"].gt(0).any() else []
    return comparison[["test_case", *AXES, *apart, *columns, *clocks, "doubted"]]


def show_ratios(comparison: pd.DataFrame) -> None:
    """Draw every ratio with its interval, a panel for each figure."""
    display(figures.ratio_sheet(comparison))


def publish(runs: str, out: str) -> Path:
    """Write the report on a runs folder, and give the page to open first."""
    return publish_report(located(runs), located(out), notebooks=False)


def _readable(rows: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    present = [name for name in columns if rows[name].notna().any()]
    return _indexed(rows, _point(rows), present)


def _indexed(rows: pd.DataFrame, keys: tuple[str, ...], columns: Sequence[str]) -> pd.DataFrame:
    readable = shown(rows, *keys, *columns)
    return readable.set_index(list(readable)[: len(keys)])


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


def _layouts(found: Tables) -> Iterator[tuple[str, Mapping[str, pd.DataFrame]]]:
    keys = ["system", "topology", "queues"]
    for system, topology, queues in found["points"][keys].drop_duplicates().itertuples(index=False):
        part = select(found, system=system, topology=topology, queues=queues)
        if part["points"]["throughput_msg_s"].notna().any():
            yield f"{system}, {topology}, {queues} queues", part


def _doubted(found: Tables) -> set[str]:
    return set(found["doubts"]["point"].dropna())
