"""The page of a layout, which is a topology with a kind of queue, and its test cases."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.pages.questions import Answer, answers
from mqperf.pages.report import hosts, run_sheets
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.explorers import Explorers
from mqperf.pages.report.rst import Grid, Text, slug
from mqperf.pages.report.run_sheets import Sheets
from mqperf.pages.report.words import Layout, joined, repeats_of
from mqperf.pages.sections import SECTIONS, View, forms
from mqperf.plan.test_cases import STANDARD, TEST_CASES
from mqperf.study.tables import Selection, Tables, varied, where
from mqperf.study.tables.axes import FACTORS
from mqperf.study.tables.axis_words import occurring
from mqperf.study.tables.spreadsheets import write_csv


@dataclass(frozen=True, slots=True)
class Printed:
    """A section on a page: its text, drawing and table, and the data behind the table."""

    name: str
    heading: str
    text: Text
    drawing: Drawing | None
    grid: Grid | None
    data: pd.DataFrame | None

    @property
    def file(self) -> Text:
        """Name of the CSV file with the table's data."""
        return slug(self.grid.caption) + Text(".csv") if self.grid else Text()


@dataclass(frozen=True, slots=True)
class Part:
    """A test case: its title, doubts about it as a whole, and its sections if it was measured."""

    title: str
    remarks: tuple[str, ...]
    sections: tuple[Printed, ...]
    doubts: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Page:
    """All data that the template of a page needs."""

    layout: Layout
    threads: str
    answers: tuple[Answer, ...]
    parts: tuple[Part, ...]
    hosts: Grid | None
    data: dict[str, Any]

    @property
    def sections(self) -> Iterator[Printed]:
        """The sections of all test cases."""
        for part in self.parts:
            yield from part.sections

    def write(self, folder: Path) -> None:
        """Write the CSV of every table and the JSON of the page."""
        for section in self.sections:
            if section.data is not None:
                write_csv(section.data, folder / str(section.file))
        text = json.dumps(self.data, indent=1, ensure_ascii=False)
        (folder / f"{self.layout.folder}.json").write_text(text + "\n", encoding="utf-8")


def page(layout: Layout, tables: Tables, explorers: Explorers) -> Page:
    """Return the page of one layout; ``explorers`` has the runs that are drawn over time."""
    of_layout = Selection(tables, layout.of)
    labels, sheets = (f"note-{number}" for number in count(1)), run_sheets.sheets(of_layout)
    parts: dict[str, Part] = {}
    for case in _test_cases(of_layout["runs"]):
        of_case = Selection(of_layout, partial(where, test_case=case))
        parts[case] = _part(View(layout, case, of_case, explorers), labels, sheets)
    return Page(
        layout=layout,
        threads=_threads(of_layout["runs"], of_layout["points"]),
        answers=tuple(answers(of_layout)),
        parts=tuple(parts.values()),
        hosts=hosts.grid(of_layout),
        data=_data(layout, of_layout, parts),
    )


def _test_cases(runs: pd.DataFrame) -> list[str]:
    """Return the test cases of a page: those tried, and all standard ones if any was tried."""
    tried = {*runs["test_case"].dropna()}
    expected = {*STANDARD} if tried & {*STANDARD} else set()
    return [case for case in TEST_CASES if case in tried | expected]


def _threads(runs: pd.DataFrame, points: pd.DataFrame) -> str:
    """Return sentences on the number of threads, length of runs, repeats, and other parameters."""
    factors = [_factor(runs[name]) for name in ("green_threads", "processes", "hosts")]
    sentence = "Threads are green threads of a client process x client processes x client hosts"
    sentence += f": {' x '.join(factors)}." if all(factors) else "."
    windows = joined([f"{seconds:g}" for seconds in sorted(runs["asked_s"].dropna().unique())])
    repeats = repeats_of(points)
    if windows and repeats:
        often = "once" if repeats == "1" else f"{repeats} times, and the figures are means"
        sentence += f" Every point was measured for {windows} s, {often}."
    others = [occurring(name, runs) for name in varied(runs) if name not in FACTORS]
    return f"{sentence} Points differ in {joined(others)}, too." if others else sentence


def _factor(numbers: pd.Series) -> str:
    """Format distinct values: ``10``, ``(1, 2, 5)``, or an empty text if none is known."""
    values = [str(number) for number in sorted(numbers.dropna().unique())]
    return f"({', '.join(values)})" if len(values) > 1 else "".join(values)


def _part(view: View, labels: Iterator[str], sheets: Sheets) -> Part:
    tables, doubts = view.tables, view.tables["doubts"]
    about_case = ~doubts["point"].isin(tables["points"]["point"])
    remarks = tuple(doubts.loc[about_case, "text"])
    title = f"Test Case {view.case.number}: {view.case.heading}"
    if tables["runs"].empty or tables["points"].empty:
        return Part(title, remarks, (), doubts)
    about_points = replace(view, tables={**tables, "doubts": doubts[~about_case]})
    return Part(title, remarks, tuple(_sections(about_points, labels, sheets)), doubts)


def _sections(view: View, labels: Iterator[str], sheets: Sheets) -> Iterator[Printed]:
    for name, section in SECTIONS.items():
        for content in section.of(view):
            yield Printed(
                name,
                content.heading,
                Text(" ").join(content.words),
                content.drawing,
                forms.grid(content, labels, sheets),
                content.behind,
            )


def _data(layout: Layout, tables: Tables, parts: Mapping[str, Part]) -> dict[str, Any]:
    return {
        "format": "mqperf-report-page",
        "version": 1,
        "system": layout.system,
        "topology": layout.topology,
        "queues": layout.queues,
        "runs": forms.of_frame(tables["runs"]),
        **({"hosts": forms.of_frame(tables["hosts"])} if hosts.several(tables["hosts"]) else {}),
        "test_cases": {
            case: {
                **{
                    section.name: forms.of_frame(section.data)
                    for section in part.sections
                    if section.data is not None
                },
                "doubts": forms.of_frame(part.doubts),
            }
            for case, part in parts.items()
            if part.sections
        },
    }
