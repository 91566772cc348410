"""What notebooks show: one line per cell, so that a notebook tells the story and nothing else."""

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from IPython.core.getipython import get_ipython
from IPython.display import Markdown, display
from matplotlib.figure import Figure

from mqperf.base import injected
from mqperf.pages import figures
from mqperf.pages.figures import as_picture
from mqperf.pages.figures.told import short
from mqperf.pages.report.drawings import counting
from mqperf.pages.sections import forms, shown
from mqperf.pages.sections.rows import uncertainty
from mqperf.plan.columns import parameters
from mqperf.plan.test_cases import TEST_CASES, unit_of
from mqperf.study.tables import Tables, conditions, varied, with_parameters
from mqperf.study.tables.axes import LAYOUT, SWEEP
from mqperf.study.tables.places import CONDITION

ROOT_MARK = "notebooks"
"""The folder by which the root of a checkout is known."""

POINT_COLUMNS = (*LAYOUT, "threads")


def set_up() -> None:
    """Show figures as pictures in SVG, which are drawn once, and which untrusted notebooks show.

    Tables are shown whole, and what stands in them as text, not as a formula.  Raises
    ``MqperfError`` for parameters from papermill that the notebook does not have.
    """
    if (shell := get_ipython()) is not None:
        if shell.history_manager is not None:
            injected.check(shell.history_manager.input_hist_raw[1:], shell.user_ns)
        if (form := shell.display_formatter) is not None:
            form.formatters["text/html"].for_type(Figure, as_picture)
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


def each(results: Tables, view: Callable[[Tables, str], None]) -> None:
    """Show one view of every test case that was measured, each below its name."""
    measured = set(results["points"].dropna(subset=["throughput_msg_s"])["test_case"])
    for name, test_case in TEST_CASES.items():
        if name in measured:
            display(Markdown(f"### {test_case.title}"))
            view(results, name)


def show(results: Tables, section: str, test_case: str = "") -> None:
    """Show a section of each test case that was measured, or of one, as reports show it.

    Each layout has its words, its figure and its table.
    """
    title = ""
    for view, content in shown(results, section, test_case):
        if not test_case and view.case.title != title:
            title = view.case.title
            display(Markdown(f"### {title}"))
        display(Markdown(f"{view.layout.system_title}, {view.layout.label}"))
        display(Markdown(" ".join(content.words)))
        if content.drawing is not None:
            display(content.drawing)
        if content.rows is not None:
            table = forms.frame(content)
            display(table.set_index(table.columns[0]))


def table(results: Tables, section: str, test_case: str = "") -> pd.DataFrame:
    """The table of a section, in the units of reports, for all layouts and test cases.

    The index says which layout and test case a row is of; without rows the table is empty.
    """
    parts = {
        (view.layout.system, view.layout.topology, view.layout.queues, view.test_case): (
            forms.frame(content).reset_index(drop=True)
        )
        for view, content in shown(results, section, test_case)
    }
    names = [*SWEEP]
    return pd.concat(parts, names=names).droplevel(-1) if parts else pd.DataFrame()


def doubts(results: Tables) -> pd.DataFrame:
    """Every reason to distrust a number, beside the point it is about."""
    return _placed(results, "doubts", "kind", "text")


def doubted_points(results: Tables) -> set[str]:
    """The points that any doubt is about."""
    return set(results["doubts"]["point"].dropna())


def disturbed(results: Tables) -> str:
    """The last run with an action; the last of all where none has any."""
    runs = results["messages"]["run"]
    acted = runs[runs.isin(results["outages"]["run"])]
    return str((acted if len(acted) else runs).iloc[-1])


def sweep_of(results: Tables, metric: str = "") -> Figure:
    """Throughput, latency and CPU of one sweep, along what varies in it; doubted points hollow.

    Or one of ``figures.METRICS`` alone.
    """
    points, doubted = _unsure(results), doubted_points(results)
    sheet = (
        figures.metric_sheet(points, metric, doubted=doubted)
        if metric
        else figures.sweep_sheet(points, doubted=doubted)
    )
    unit = unit_of(*results["points"]["test_case"].unique())
    return counting(sheet, unit, list(conditions(results)[CONDITION]))


def show_metric(results: Tables, metric: str, test_case: str) -> None:
    """Draw one of ``figures.METRICS`` of a test case, a sheet for each layout."""
    for view, _ in shown(results, "points", test_case):
        display(Markdown(f"{view.layout.system_title}, {view.layout.label}"))
        display(sweep_of(view.tables, metric))


def bottlenecks(results: Tables) -> pd.DataFrame:
    """The bottleneck of each run, and the figures that this rests on."""
    return _placed(results, "bottlenecks", "bottleneck", "because")


def saturation_points(results: Tables) -> pd.DataFrame:
    """Where each sweep saturates, as a sentence."""
    return results["saturation_points"][[*SWEEP, "text"]]


def ratios(comparison: pd.DataFrame) -> pd.DataFrame:
    """The comparison without what only its checks need."""
    columns = ("figure", "value_a", "value_b", "ratio", "ratio_low", "ratio_high", "verdict")
    stated = [name for name in parameters() if name in comparison.columns]
    clocks = ["clock_share"] if comparison["clock_share"].gt(0).any() else []
    return comparison[["test_case", *POINT_COLUMNS, *stated, *columns, *clocks, "doubted"]]


def _unsure(results: Tables) -> pd.DataFrame:
    """The points, with what clocks of several hosts may make their latencies wrong by, if any."""
    points = results["points"]
    return points.assign(**uncertainty(results["latency"], points["point"]))


def _placed(results: Tables, table: str, *columns: str) -> pd.DataFrame:
    """Columns of a table beside the points that its rows are about."""
    rows = with_parameters(results[table], results["runs"])
    return rows[[*POINT_COLUMNS, *varied(results["runs"]), "test_case", *columns]]
