"""A table of results as it is shown, the common source of pages, notebooks, terminals and JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.explorers import Explorers
from mqperf.pages.report.rst import escape
from mqperf.pages.report.words import Layout, likewise
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import MESSAGES, TEST_CASES, TestCase, in_unit
from mqperf.study.tables import Tables, conditions, in_curves, varied, with_parameters
from mqperf.study.tables.places import CONDITION

ABOUT: Mapping[str, tuple[str, str]] = {
    "failed-run": ("messages", "threads"),
    "received-not-sent": ("messages", "received"),
    "roundtrip-not-received": ("messages", "round_trip"),
    "lost": ("messages", "lost"),
    "negative-lost": ("messages", "lost"),
    "client-errors": ("messages", "errors"),
    "backlog": ("points", "latency_mean_s"),
    "sender-late": ("points", "latency_mean_s"),
    "service-time": ("points", "latency_mean_s"),
    "missing-run": ("points", "threads"),
    "clock-offset": ("points", "latency_mean_s"),
    "clock-drift": ("points", "latency_mean_s"),
    "background-load": ("background", "load"),
    "link-not-as-asked": ("links", "backend"),
    "presettled-dropped": ("node_summary", "presettled_dropped"),
    "action-late": ("outages", "began_s"),
    "not-recovered": ("outages", "recovery_s"),
    "pause-by-chance": ("outages", "outage_s"),
    "cpu-sum": ("nodes", "threads"),
    "sys-exceeds-total": ("nodes", "threads"),
    "cpu-exceeds-cores": ("nodes", "threads"),
    "network-bytes": ("nodes", "threads"),
    "probe-gap": ("nodes", "threads"),
}
"""Kind of doubt -> the section and column that it is about; all others are about throughput."""

THROUGHPUT = ("points", "throughput_msg_s")

ALWAYS = ("messages", "points")
"""Sections that every measured test case has."""

Marks = Mapping[tuple[str, str], list[str]]
"""(run or point of a row, column) -> remarks on that number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a section: heading, sentences, drawing and table.

    ``rows`` has a row for each line, in SI units or as finished text; ``columns`` maps the shown
    columns to their headings, in order.  ``key`` is the column of ``rows`` with the run or point
    of a line.  ``data`` is the table to download, if it is not ``rows``.  Content with
    ``counts_messages`` is about brokers, links or other loads: its unit is always messages.
    """

    heading: str
    words: Sequence[str]
    caption: str = ""
    rows: pd.DataFrame | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    marks: Marks = field(default_factory=dict)
    drawing: Drawing | None = None
    data: pd.DataFrame | None = None
    style: str = "numbers"
    counts_messages: bool = False

    @property
    def behind(self) -> pd.DataFrame | None:
        """The data behind the table; None for a section without a table."""
        return self.rows if self.data is None else self.data

    def counting(self, unit: str, kept: Sequence[str] = ()) -> "Content":
        """Return the content in the unit of the test case; names in ``kept`` stay as they are."""
        if unit == MESSAGES or self.counts_messages:
            return self
        names = [*kept, *map(escape, kept)]
        return replace(
            self,
            words=[type(text)(in_unit(text, unit, names)) for text in self.words],
            drawing=self.drawing and self.drawing.counting(unit, kept),
            columns={name: in_unit(text, unit, names) for name, text in self.columns.items()},
        )


@dataclass(frozen=True)
class View:
    """The input of sections: the complete tables of one test case on one layout.

    ``in_time`` has the runs that are drawn over time, if a report draws any.
    """

    layout: Layout
    test_case: str
    tables: Tables
    in_time: Explorers = field(default_factory=dict)

    @property
    def case(self) -> TestCase:
        """The test case."""
        return TEST_CASES[self.test_case]

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The parameters that vary among these runs, besides the number of threads."""
        return varied(self.tables["runs"])

    @property
    def published(self) -> bool:
        """Whether the figures were copied from a published report, without further data."""
        return bool((self.tables["runs"]["status"] == "published").all())

    def caption(self, subject: str) -> str:
        """Return the caption of a table of this test case."""
        return f"{self.case.title} {subject}"

    def of_runs(self, table: str, *order: str) -> pd.DataFrame:
        """Return the rows of a table with the parameters of their run, curve after curve."""
        rows = with_parameters(self.tables[table], self.tables["runs"])
        return in_curves(rows, "repeat", *order)

    def columns(
        self, frame: pd.DataFrame, figures: Sequence[str], keep: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Return the headings of a table: the keys of its rows, then these figures.

        Figures that no row has are dropped unless they are in ``keep``; without it all stay.
        """
        repeat = ["repeat"] if len(frame["repeat"].unique()) > 1 else []
        names = ["threads", *(name for name in self.axes if name in frame.columns), *repeat]
        names += figures if keep is None else present(frame, figures, keep=keep)
        return {name: COLUMNS[name].heading() for name in names}

    def marks(self, section: str, key: str) -> dict[tuple[str, str], list[str]]:
        """Return the doubts about a section; those about an absent one are put at the throughput.

        Findings of one check on several repeats of a point are merged in one sentence.
        """
        nodes = ("nodes",) if (self.tables["cpu"]["kind"] == "broker").any() else ()
        existing = {*ALWAYS, *nodes} if section in ALWAYS else {section}
        marks: dict[tuple[str, str], list[str]] = {}
        for (row, kind), texts in self.tables["doubts"].groupby([key, "kind"], sort=False)["text"]:
            target, column = ABOUT.get(str(kind), THROUGHPUT)
            target, column = (target, column) if target in existing else THROUGHPUT
            if target == section:
                marks.setdefault((str(row), column), []).append(likewise(list(texts.unique())))
        return marks


@dataclass(frozen=True, slots=True)
class Section:
    """A section of pages: ``content`` yields what it shows of a view, if anything.

    Its name is that of a table, and is used in JSON and notebooks.  A table without rows is not
    shown, except in the sections ``ALWAYS``; doubts are added to the marks of ``content``.
    """

    name: str
    content: Callable[[View], Iterator[Content]]

    def of(self, view: View) -> Iterator[Content]:
        """Yield its content for a test case on a layout, in the unit of the test case."""
        table = view.tables.get(self.name)
        if table is not None and table.empty and self.name not in ALWAYS:
            return
        kept = list(conditions(view.tables)[CONDITION])
        for content in self.content(view):
            marks = view.marks(self.name, content.key) if content.key else {}
            for cell, texts in content.marks.items():
                marks.setdefault(cell, []).extend(texts)
            yield replace(content, marks=marks).counting(view.case.unit, kept)


def present(frame: pd.DataFrame, columns: Sequence[str], *, keep: Sequence[str]) -> list[str]:
    """Return the columns with a value in any row, and those to ``keep``."""
    return [
        name
        for name in columns
        if name in frame.columns and (name in keep or frame[name].notna().any())
    ]
