"""Many folders of runs in the order of time, for notebooks, programs and the command line.

import mqperf_trend

history = mqperf_trend.trend(["data/runs/monday", "data/runs/tuesday", "data/runs/wednesday"])
history                                 # in a notebook: folders, what is sustained, changes
history.changes                         # which steps are more than chance, and matter
history.plot(test_case="rpc-call", topology="cmsm", queues="classic")
history.report("reports/trend")
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from typing_extensions import override

from mqperf.base.errors import MqperfError
from mqperf.base.one_line import printable
from mqperf.front.api import StrPath
from mqperf.pages import notebook
from mqperf.pages.report.drawings import counting
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study import stats, tables
from mqperf.study.tables import Tables
from mqperf.study.tables.axes import SWEEP
from mqperf_trend.pages import page, words
from mqperf_trend.study import trends


@dataclass(frozen=True, slots=True, repr=False)
class Trend:
    """The figures of the same points over many folders.

    ``tables`` are ``trend_folders``, ``trend_differences``, ``trend_sustained``, ``trend_steps``,
    ``trend_control_runs`` and ``trend_points``; ``problems`` has a line for each given folder that
    was left out, with the reason.
    """

    tables: Tables
    problems: tuple[str, ...] = ()

    @property
    def folders(self) -> pd.DataFrame:
        """A row for each folder, in the order of time: versions, machine, points and doubts."""
        return self.tables["trend_folders"]

    @property
    def changes(self) -> pd.DataFrame:
        """The steps that are relevant, significant, and no drift of the machine."""
        return words.changes(self.tables["trend_steps"])

    @property
    def drifts(self) -> pd.DataFrame:
        """The steps that control runs show as well, while all versions stayed the same."""
        return words.drifts(self.tables["trend_steps"])

    @property
    def steps(self) -> pd.DataFrame:
        """Every step of every figure of every point, with ratio, interval and verdict."""
        return self.tables["trend_steps"]

    @property
    def sustained(self) -> pd.DataFrame:
        """The sustained throughput: a row for each folder, layout and test case."""
        return self.tables["trend_sustained"]

    @property
    def control_runs(self) -> pd.DataFrame:
        """The steps of the control runs, which show the drift of the machine."""
        return self.tables["trend_control_runs"]

    def plot(self, *, points: bool = False, **values: str) -> Figure:
        """Plot the sustained throughput of one sweep and its latency; or each of its ``points``.

        ``values`` select the sweep: ``plot(test_case="rpc-call", queues="classic")``.  Raises
        ``MqperfError`` unless exactly one sweep has these values.
        """
        if unknown := [name for name in values if name not in SWEEP]:
            raise MqperfError(
                f"no column {unknown[0]!r} to select by; there are: {', '.join(SWEEP)}"
            )
        all_sweeps = list(page.sweeps(self.tables))
        found = [of_sweep for sweep, of_sweep in all_sweeps if values.items() <= sweep.items()]
        if len(found) != 1:
            choices = [
                f"{name}: {', '.join(dict.fromkeys(sweep[name] for sweep, _ in all_sweeps))}"
                for name in SWEEP
                if len({sweep[name] for sweep, _ in all_sweeps}) > 1
            ]
            hint = f" ({'; '.join(choices)})" if choices else ""
            raise MqperfError(f"select one sweep, to plot it: {len(found)} have these values{hint}")
        sheet = (page.point_sheet if points else page.sustained_sheet)(found[0])
        return counting(sheet, TEST_CASES[found[0]["trend_points"]["test_case"].iloc[0]].unit)

    def report(self, out: StrPath, *, single_file: bool = False) -> Path:
        """Write a report into a folder as tables, figures, RST and HTML; return the page to open.

        With ``single_file`` ``out`` is one self-contained HTML file.  Raises ``ReportError`` when
        ``out`` holds something else.
        """
        if single_file:
            return page.write_file(notebook.located(out), self.tables)
        return page.write(notebook.located(out), self.tables)

    def lines(self) -> Iterator[str]:
        """The trend as lines of text, from the folders and their differences to the summary."""
        return words.text_lines(self.tables)

    def worse(self, *, newest: bool = False) -> bool:
        """Whether any change is for the worse; with ``newest`` any in the newest folder."""
        changes = self.changes
        if newest:
            changes = changes[changes["folder_place"] == self.folders["folder_place"].max()]
        return bool((changes["verdict"] == "worse").any())

    @override
    def __repr__(self) -> str:
        return "\n".join(map(printable, self.lines()))

    def _repr_html_(self) -> str:
        """The folders, their sustained throughput, and the changes."""
        sustained = self.sustained[[*SWEEP, "folder_label", *SUSTAINED]]
        columns = ("folder_b", *SWEEP, "threads", "figure", "ratio", "verdict", "cause", "differs")
        shown = (self.folders, sustained, self.changes[list(columns)])
        sentences = [words.summary(self.tables), *words.marks(self.tables), *self.problems]
        paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
        return paragraphs + "".join(map(notebook.as_html, shown))


SUSTAINED = ("sustained_throughput_msg_s", "sustained_at", "latency_p50_s", "latency_p99_s", "step")


def trend(paths: Iterable[StrPath], *, min_effect: float | None = None) -> Trend:
    """Read folders of runs, or of published tables, and judge how their points changed over time.

    Each is one measurement, ordered by the start of its first run.  One that cannot be read is left
    out, and named in ``problems``.  ``min_effect`` is the minimum relevant difference, 0.05 by
    default.  Raises ``MqperfError`` when fewer than two are left, or these have no point in common.
    """
    measurements: dict[Path, tuple[str, Tables]] = {}
    problems = []
    for path in paths:
        folder = notebook.located(path)
        if folder.resolve() in measurements:
            problems.append(f"{folder}: given twice; it counts once")
            continue
        try:
            measurements[folder.resolve()] = str(folder), _read_complete(folder)
        except MqperfError as error:
            problems.append(f"left out: {error}")
    if len(measurements) < 2:
        why = "; ".join(problems) or "give the folder of each measurement"
        raise MqperfError(
            f"a trend needs two folders of runs or more, and has {len(measurements)}: {why}"
        )
    return Trend(trends.trend(list(measurements.values()), min_effect=min_effect), tuple(problems))


def _read_complete(folder: Path) -> Tables:
    """All tables of a folder; raises ``MqperfError`` when no point in it is of its plan."""
    complete = stats.complete(tables.read(folder))
    if tables.of_plan(complete)["runs"]["point"].isna().all() and len(
        tables.outside_plan(complete)
    ):
        raise MqperfError(f"{folder}: its plan has none of the recorded points; run it")
    return complete
