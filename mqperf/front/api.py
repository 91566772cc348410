"""mqperf as a library: ``mqperf.run`` measures a plan, ``mqperf.read`` returns recorded results.

    import mqperf

    results = mqperf.run("plans/quickstart.yaml")
    results.answer                             # what the plan asks, in words with intervals
    results.doubts                             # which numbers not to trust, and why
    results.select(test_case="rpc-call").plot()
    results.run(results["runs"]["run"][0]).plot()  # one run in time, also by the end of its name
    mqperf.compare("data/runs/before", results)

The command line and the notebooks use the same functions.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd
import yaml
from matplotlib.figure import Figure
from rich.console import Console
from typing_extensions import override

from mqperf.base.errors import Interrupted, MqperfError, UnknownTableError
from mqperf.base.one_line import amount, printable
from mqperf.base.problems import nearest
from mqperf.base.shipped import runs_folder
from mqperf.front.live import cell
from mqperf.front.running import measured
from mqperf.lab.runner import Job
from mqperf.lab.systems.in_plans import problems_of
from mqperf.pages import figures, notebook
from mqperf.pages.one_run import MeasuredRun
from mqperf.pages.questions import answers
from mqperf.pages.questions.first_screen import FirstScreen, as_html, first_screen
from mqperf.pages.report import comparison as words
from mqperf.pages.report import comparison_page as pages
from mqperf.pages.report.build import publish, publish_file
from mqperf.pages.sections import forms
from mqperf.plan import Plan
from mqperf.plan.file import plan_from, read_plan
from mqperf.study import stats, tables
from mqperf.study.tables import Tables
from mqperf.study.tables.axes import SWEEP

StrPath = str | os.PathLike[str]


class Results(Mapping[str, pd.DataFrame]):
    """Results: a mapping of all tables of a runs folder, or of a published report, by name.

    The tables and their columns are those of the data dictionary, with ``points`` (repeats
    aggregated, one row per point), ``bottlenecks`` and ``doubts``.  Points that the folder's plan
    does not ask for are left out; the doubts name them.
    """

    def __init__(self, source: Path, complete: Tables) -> None:
        """Take complete tables; ``source`` is the folder that they were read from."""
        self.source = source
        self.complete = complete
        self._planned = tables.of_plan(complete)

    @override
    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._planned:
            hint = nearest(str(name), list(self))
            raise UnknownTableError(f"{self.source}: no table {name!r}; {hint}")
        return self._planned[name]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._planned)

    @override
    def __len__(self) -> int:
        return len(self._planned)

    @property
    def points(self) -> pd.DataFrame:
        """One row per point of a sweep: throughput in msg/s, latencies in s, CPU in cores."""
        return self["points"]

    @property
    def doubts(self) -> pd.DataFrame:
        """Every reason to distrust a number, with the point that it is about; ideally empty."""
        return notebook.doubts(self)

    @property
    def answer(self) -> FirstScreen:
        """Answers to the questions of the plan, with intervals, or what would decide them.

        ``answer.answers`` has the sentences, figure and table of each question; displayed in a
        notebook, or printed, it is the first screen of a report.
        """
        return first_screen(self._planned, *tables.plan_of(self.source))

    @property
    def summary(self) -> pd.DataFrame:
        """The best point of each layout and test case, as in reports and in their units."""
        answer = next(answers(self._planned, ["scaling"]), None)
        return (
            pd.DataFrame() if answer is None or answer.table is None else forms.frame(answer.table)
        )

    def select(self, **values: str | int) -> "Results":
        """Keep only rows with these values: ``results.select(test_case="rpc-call", threads=10)``.

        Raises ``MqperfError`` for a column that the points do not have, and for a value that was
        not measured.
        """
        for name, value in values.items():
            if name not in self.points.columns:
                columns = ", ".join(self.points.columns)
                raise MqperfError(f"{self.source}: no column {name!r}; there are: {columns}")
            if not self.points[name].eq(value).any():
                choices = ", ".join(map(str, self.points[name].drop_duplicates()))
                raise MqperfError(f"{self.source}: no {name} {value!r}; measured: {choices}")
        if not values:
            return self
        points = set(tables.where(self.points, **values)["point"])
        return Results(
            self.source, {n: _rows(frame, points, values) for n, frame in self.complete.items()}
        )

    def plot(self, metric: str = "") -> Figure:
        """Draw throughput, latency and CPU of one sweep against what varies, or one ``metric``.

        A metric is ``throughput``, ``latency``, ``cpu`` or ``cpu_per_message``.  Points with a
        doubt are hollow.  Raises ``MqperfError`` for another metric, and if there are several
        layouts or test cases: ``select`` one.
        """
        if metric and metric not in figures.METRICS:
            metrics = ", ".join(figures.METRICS)
            raise MqperfError(f"no metric {metric!r} to plot; there are: {metrics}")
        measured = self.points.dropna(subset=["throughput_msg_s"])
        sweeps = measured[list(SWEEP)].drop_duplicates()
        if len(sweeps) != 1:
            varying = [name for name in SWEEP if len(sweeps[name].unique()) > 1]
            choices = (f"{name}: {', '.join(sweeps[name].unique())}" for name in varying)
            raise MqperfError(
                f"{self.source}: select one sweep, to plot it ({'; '.join(choices)})"
                if varying
                else f"{self.source}: no measured data to plot"
            )
        return notebook.sweep_of(self, metric)

    def run(self, name: str) -> MeasuredRun:
        """Return a single run, to plot over time: ``results.run("r1-19b55f1a").plot()``.

        ``name`` is its name in the column ``run``, or a unique end of it.  Raises ``MqperfError``
        for any other name.
        """
        return MeasuredRun(self.source, self.complete, name)

    def compare(
        self,
        other: "Results | StrPath",
        *,
        across_systems: bool = False,
        min_effect: float | None = None,
    ) -> "Comparison":
        """Compare ``other``, which is results or the path of their folder, with this.

        Each point gets a verdict if the difference is significant.  ``min_effect`` is the minimum
        relevant difference, 0.05 by default.
        """
        return compare(self, other, across_systems=across_systems, min_effect=min_effect)

    def report(self, out: StrPath, *, notebooks: bool = False, single_file: bool = False) -> Path:
        """Write the report on all of ``source`` into a folder, and return the page to open first.

        With ``single_file`` ``out`` is one self-contained HTML file without notebooks.  Raises
        ``ReportError`` when ``out`` holds something else.
        """
        path = notebook.located(out)
        if single_file:
            return publish_file(self.source, path)
        return publish(self.source, path, notebooks=notebooks)

    @override
    def __repr__(self) -> str:
        counts = f"{amount(len(self.points), 'point')}, {amount(len(self['doubts']), 'doubt')}"
        return f"<mqperf results of {self.source}: {counts}>"

    def _repr_html_(self) -> str:
        return as_html(self.answer)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """A comparison of B with A: tables ``differences``, ``sustained_compared``, ``comparison``."""

    a: Results
    b: Results
    tables: Tables

    @property
    def differences(self) -> pd.DataFrame:
        """One row per fact that differs: hardware, versions, the plan."""
        return self.tables["differences"]

    @property
    def sustained(self) -> pd.DataFrame:
        """Sustained throughput and raw maximum of both: one row per layout and test case."""
        return self.tables["sustained_compared"]

    @property
    def ratios(self) -> pd.DataFrame:
        """One row per figure of a point: values, ratio B / A, its interval, a verdict."""
        return notebook.ratios(self.tables["comparison"])

    def plot(self) -> Figure:
        """Draw every ratio with its interval; the band is below the minimum relevant difference."""
        return figures.ratio_sheet(self.tables["comparison"])

    def report(self, out: StrPath, *, single_file: bool = False) -> Path:
        """Write it into a folder as tables, figures, RST and HTML, and return the page to open.

        With ``single_file`` ``out`` is one self-contained HTML file.  Raises ``ReportError`` when
        ``out`` holds something else.
        """
        sides = [(str(results.source), results) for results in (self.a, self.b)]
        if single_file:
            return pages.write_file(notebook.located(out), sides, self.tables)
        return pages.write(notebook.located(out), sides, self.tables)

    def lines(self) -> Iterator[str]:
        """Yield the comparison as text, differing facts first."""
        return words.text_lines(**self.tables)

    @override
    def __repr__(self) -> str:
        return "\n".join(map(printable, self.lines()))

    def _repr_html_(self) -> str:
        """Return answers, differing facts, sustained throughputs, and ratios as HTML."""
        frames = (self.differences, self.sustained, self.ratios)
        answers = "".join(f"<p>{line}</p>" for line in words.answers(self.tables["comparison"]))
        return answers + "".join(map(notebook.as_html, frames))


def read(path: StrPath) -> Results:
    """Read a runs folder, or the tables of a published report; nothing is measured.

    In a notebook a relative path may also start at the root of the checkout that contains it.
    ``samples/wan`` is a recorded sample, in a checkout or of ``mqperf-samples``.  The folder that
    was read last is cached until one of its files changes.  Raises ``MqperfError`` for a folder
    that cannot be read.
    """
    source = runs_folder(notebook.located(path))
    complete = _complete(source, _state(source))
    return Results(source, {name: frame.copy(deep=False) for name, frame in complete.items()})


@lru_cache(maxsize=1)
def _complete(source: Path, _state: int) -> Tables:
    return stats.complete(tables.read(source))


def _state(folder: Path) -> int:
    """Return a hash of the names, sizes and modification times of all files below a folder."""
    try:
        files = [(str(path), path.lstat()) for path in folder.rglob("*")]
    except OSError:  # one vanished meanwhile
        return time.monotonic_ns()
    return hash(frozenset((name, facts.st_size, facts.st_mtime_ns) for name, facts in files))


def compare(
    a: Results | StrPath,
    b: Results | StrPath,
    *,
    across_systems: bool = False,
    min_effect: float | None = None,
) -> Comparison:
    """Compare two sets: is ``b`` better than ``a``?  Each is results, or the path of their folder.

    A verdict on a point needs a significant difference; points of different systems are compared
    only with ``across_systems``.  ``min_effect`` is the minimum relevant difference, 0.05 by
    default.  Raises ``MqperfError`` for an argument that is neither.
    """
    first, second = _results(a), _results(b)
    compared = stats.compared(
        first.complete, second.complete, across_systems=across_systems, min_effect=min_effect
    )
    return Comparison(first, second, compared)


def load_plan(file: StrPath) -> Plan:
    """Read and check a plan file; raises ``PlanError`` with file and line of every problem."""
    return read_plan(notebook.located(file), problems_of).plan


def new_plan(
    *,
    systems: Mapping[str, object],
    test_cases: Sequence[str],
    load: Mapping[str, object],
    repeats: int = 1,
    **more: object,
) -> Plan:
    """Create and check a plan from the keys of a plan file.

    ``more`` has any further keys::

        mqperf.new_plan(
            systems={"rabbitmq": {"topologies": ["cmsm"]}},
            test_cases=["rpc-call"],
            load={"green_threads": [1, 10], "duration_s": 5},
            order="random",
        )

    Raises ``PlanError`` with every problem.
    """
    keys = {"systems": systems, "test_cases": test_cases, "load": load, "repeats": repeats}
    named = {"name": "notebook", "title": "From a notebook"}
    return plan_from(named | keys | more, "plan", problems_of)


def run(what: Plan | StrPath, runs: StrPath | None = None, *, hosts: str | None = None) -> Results:
    """Run the pending cases of a plan, or of a plan file, and return all results.

    Runs are recorded in the folder ``runs``, data/runs/NAME by default.  Called again, also after
    an interruption, it measures only what is missing; with nothing pending no system is started.
    ``hosts`` is an inventory, or ``laboratory`` for five network namespaces.  Raises
    ``MqperfError`` if runs failed, and ``Interrupted``, which is a ``KeyboardInterrupt``; all
    other runs are recorded, and ``read`` returns them.
    """
    job = job_of(what, runs)
    shown = cell.shown if cell.watched() else None
    try:
        [outcome] = measured([job], _console(), shown, hosts=hosts)
    except KeyboardInterrupt:
        message = f"interrupted: {job.runs} keeps the finished runs; run again for the rest"
        raise Interrupted(message) from None
    if outcome.failed:
        raise MqperfError("; ".join(reason for _, reason in outcome.failed))
    return read(job.runs)


def job_of(what: Plan | StrPath, runs: StrPath | None) -> Job:
    """Return the job of ``run``: a plan, or the plan in a file, and the folder for its runs."""
    if isinstance(what, Plan):
        plan, text = what, yaml.safe_dump(what.model_dump(mode="json"))
    else:
        file = read_plan(notebook.located(what), problems_of)
        plan, text = file.plan, file.text
    return Job(plan, text, notebook.located(f"data/runs/{plan.name}" if runs is None else runs))


def _results(argument: object) -> Results:
    """Return results unchanged, or read them from the folder at a path."""
    if isinstance(argument, Results):
        return argument
    if isinstance(argument, str | os.PathLike):
        return read(argument)
    raise MqperfError(
        f"compare takes results or the path of their folder, got {type(argument).__name__}"
    )


def _rows(frame: pd.DataFrame, points: set[str], values: Mapping[str, str | int]) -> pd.DataFrame:
    """Return the rows of these points; of a table without points, the rows with these values."""
    if "point" in frame.columns:
        return frame[frame["point"].isin(points)].reset_index(drop=True)
    conditions = {name: value for name, value in values.items() if name in frame.columns}
    return tables.where(frame, **conditions).reset_index(drop=True) if conditions else frame


def _console() -> Console:
    """Return the console for progress; in a notebook plain lines, without colours."""
    console = Console(highlight=False)
    if console.is_jupyter:
        return Console(highlight=False, force_jupyter=False, force_terminal=False)
    return console
