"""A single measured run: its facts, its doubts, and its figures over time."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from typing_extensions import override

from mqperf.base.errors import MqperfError
from mqperf.pages import figures
from mqperf.pages.report import explorers
from mqperf.pages.report.drawings import counting
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, completed, tidy, with_parameters


class MeasuredRun:
    """A single run.

    ::

        run = mqperf.read("data/samples/faults").run("r1-4ffa99dd")
        run.plot()         # throughput, latency, CPU, inside and events on one time axis
        run.percentiles()  # its latency by percentile
        run.facts          # what it is, and where it ran
        run.doubts         # why not to trust it

    ``tables`` has its rows of every table: ``run.tables["intervals"]`` are the seconds of the plot.
    """

    def __init__(self, source: Path, tables: Tables, name: str) -> None:
        """Select the run ``name`` from complete tables, which were read from ``source``.

        The end of a name suffices if it is unique.  Raises ``MqperfError`` for an unknown name,
        and for an ambiguous one.
        """
        self.source = source
        self.name = _full_name(source, tables["runs"], name)
        self.tables: Tables = {
            table: frame[frame["run"].eq(self.name).fillna(value=False)].reset_index(drop=True)
            for table, frame in tables.items()
            if "run" in frame.columns
        }

    @property
    def facts(self) -> pd.Series:
        """Its row of the table ``runs``, without missing values."""
        return self.tables["runs"].iloc[0].dropna()

    @property
    def doubts(self) -> pd.DataFrame:
        """Every reason to distrust its numbers: ``kind`` and ``text``; empty is best."""
        return self.tables["doubts"][["kind", "text"]]

    def plot(self) -> Figure:
        """Draw everything that was recorded over time, on one time axis.

        Panels are throughput; latency as a heat map of the messages started in each second, with
        mean and maximum of those finished in it; CPU of every process, per host; internal metrics
        of nodes; and actions, alarms, and doubts about an instant.  Warm-up, cool-down and actions
        are shaded.  What was not recorded has no panel.  Raises ``MqperfError`` for a run that did
        not complete.
        """
        self._check_whole()
        return counting(explorers.draw(self.tables, self.source, self.name), self._unit)

    def percentiles(self) -> Figure:
        """Draw its latency by percentile; rarer percentiles are further right.

        The curve ends where fewer than ten messages are slower.  Raises ``MqperfError`` if there
        are too few messages for any percentile.
        """
        self._check_whole()
        curve = self.tables["percentiles"]
        if curve.empty:
            raise MqperfError(f"{self.name}: too few messages for percentiles of their latency")
        stream = TEST_CASES[str(self.facts["test_case"])].finish.latency
        rows = with_parameters(curve, self.tables["runs"])
        return counting(figures.percentile_sheet(rows, stream=stream), self._unit)

    @property
    def _unit(self) -> str:
        return TEST_CASES[str(self.facts["test_case"])].unit

    def _check_whole(self) -> None:
        if completed(self.tables["runs"]).empty:
            failure = self.facts.get("failure", "no reason recorded")
            raise MqperfError(f"{self.name}: did not complete: {failure}")

    @override
    def __repr__(self) -> str:
        kinds = ", ".join(self.doubts["kind"].unique())
        return f"<run {self.name} of {self.source}: {f'doubts: {kinds}' if kinds else 'no doubts'}>"

    def _repr_html_(self) -> str:
        """Return its facts and doubts as HTML."""
        facts: str = tidy(self.tables["runs"]).T.dropna().to_html(header=False)
        doubts: str = self.doubts.to_html(index=False) if len(self.doubts) else ""
        return facts + doubts


def _full_name(source: Path, runs: pd.DataFrame, name: str) -> str:
    names = [str(run) for run in runs["run"].dropna()]
    matches = [run for run in names if run == name] or [run for run in names if run.endswith(name)]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        examples = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        raise MqperfError(f"{source}: no run {name!r}; there are {len(names)}: {examples}")
    raise MqperfError(f"{source}: {len(matches)} runs end in {name!r}: {', '.join(matches[:5])}")
