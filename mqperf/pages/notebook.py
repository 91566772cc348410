"""Functions for notebooks, whose cells need only one line each."""

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
from mqperf.pages.sections.points import uncertainty
from mqperf.plan.columns import parameters
from mqperf.plan.test_cases import TEST_CASES, unit_of
from mqperf.study.tables import Tables, conditions, varied, with_parameters
from mqperf.study.tables.axes import LAYOUT, SWEEP
from mqperf.study.tables.places import CONDITION

ROOT_MARK = "notebooks"
"""Name of a folder that identifies the root of a checkout."""

POINT_COLUMNS = (*LAYOUT, "threads")


def set_up() -> None:
    """Make notebooks show figures as SVG images, which are drawn once, and need no trust.

    Tables are shown completely, and their cells as text without formulas.  Raises ``MqperfError``
    for parameters from papermill that the notebook does not have.
    """
    if (shell := get_ipython()) is not None:
        if shell.history_manager is not None:
            injected.check(shell.history_manager.input_hist_raw[1:], shell.user_ns)
        if (form := shell.display_formatter) is not None:
            form.formatters["text/html"].for_type(Figure, as_picture)
    for option in ("display.max_columns", "display.max_rows", "display.max_colwidth"):
        pd.set_option(option, None)
    pd.set_option("display.precision", 1)
    pd.options.display.html.use_mathjax = False


def located(path: str | os.PathLike[str]) -> Path:
    """Resolve a path; in a notebook it may also be relative to the root of the checkout."""
    given, here = Path(path), Path.cwd()
    if given.is_absolute() or given.exists() or get_ipython() is None:
        return given
    roots = (folder for folder in (here, *here.parents) if (folder / ROOT_MARK).is_dir())
    return next((root / given for root in roots), given)


def as_html(frame: pd.DataFrame) -> str:
    """Return a table as HTML for a cell, with rounded numbers."""
    return frame.to_html(index=False, na_rep="", float_format=short)


def each(results: Tables, view: Callable[[Tables, str], None]) -> None:
    """Call ``view`` for every measured test case, below a heading with its title."""
    measured = set(results["points"].dropna(subset=["throughput_msg_s"])["test_case"])
    for name, test_case in TEST_CASES.items():
        if name in measured:
            display(Markdown(f"### {test_case.title}"))
            view(results, name)


def show(results: Tables, section: str, test_case: str = "") -> None:
    """Show a section of each measured test case, or of one, as in reports.

    Each layout has its sentences, its figure and its table.
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
    """Return the table of a section, in the units of reports, for all layouts and test cases.

    The index has layout and test case of a row; the table is empty if there are no rows.
    """
    frames = {
        (view.layout.system, view.layout.topology, view.layout.queues, view.test_case): (
            forms.frame(content).reset_index(drop=True)
        )
        for view, content in shown(results, section, test_case)
    }
    names = [*SWEEP]
    return pd.concat(frames, names=names).droplevel(-1) if frames else pd.DataFrame()


def doubts(results: Tables) -> pd.DataFrame:
    """Return every reason to distrust a number, with the point that it is about."""
    return _with_points(results, "doubts", "kind", "text")


def doubted_points(results: Tables) -> set[str]:
    """Return the points that any doubt is about."""
    return set(results["doubts"]["point"].dropna())


def disturbed(results: Tables) -> str:
    """Return the last run with an action, or the last run if none has an action."""
    runs = results["messages"]["run"]
    with_action = runs[runs.isin(results["outages"]["run"])]
    return str((with_action if len(with_action) else runs).iloc[-1])


def sweep_of(results: Tables, metric: str = "") -> Figure:
    """Draw throughput, latency and CPU of one sweep, or one of ``figures.METRICS`` alone.

    Doubted points are hollow.
    """
    points, doubted = _with_uncertainty(results), doubted_points(results)
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
    """Return the bottleneck of each run, and the figures that it is derived from."""
    return _with_points(results, "bottlenecks", "bottleneck", "because")


def saturation_points(results: Tables) -> pd.DataFrame:
    """Return a sentence on the saturation point of each sweep."""
    return results["saturation_points"][[*SWEEP, "text"]]


def ratios(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the comparison without columns that only its checks need."""
    columns = ("figure", "value_a", "value_b", "ratio", "ratio_low", "ratio_high", "verdict")
    stated = [name for name in parameters() if name in comparison.columns]
    clocks = ["clock_share"] if comparison["clock_share"].gt(0).any() else []
    return comparison[["test_case", *POINT_COLUMNS, *stated, *columns, *clocks, "doubted"]]


def _with_uncertainty(results: Tables) -> pd.DataFrame:
    """Return the points, with the error bound of latencies from clocks of several hosts, if any."""
    points = results["points"]
    return points.assign(**uncertainty(results["latency"], points["point"]))


def _with_points(results: Tables, table: str, *columns: str) -> pd.DataFrame:
    """Return columns of a table after those of the points that its rows are about."""
    rows = with_parameters(results[table], results["runs"])
    return rows[[*POINT_COLUMNS, *varied(results["runs"]), "test_case", *columns]]
