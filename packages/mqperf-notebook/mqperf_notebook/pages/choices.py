"""Choices of results: sections of a test case on a layout, the axis on x, and runs."""

from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from mqperf.pages.report import explorers
from mqperf.pages.sections import SECTIONS, Content, View, views
from mqperf.pages.sections.points import points
from mqperf.study.tables import Tables, arranged, at, completed
from mqperf.study.tables.axes import ON_X
from mqperf.study.tables.axis_words import headed
from mqperf_notebook.pages.shown import Shown

FIRST = "points"
"""The section that is shown at first."""

IN_TIME = "in_time"

T = TypeVar("T")


@dataclass(frozen=True)
class Choices:
    """The choices of a test case on a layout; ``source`` is the folder of its runs."""

    view: View
    source: Path

    @property
    def title(self) -> str:
        """Layout and test case: ``RabbitMQ, Client -> Broker, Server -> Broker, PUBLISH``."""
        layout = self.view.layout
        return f"{layout.system_title}, {layout.label}, {self.view.case.title}"

    @cached_property
    def sections(self) -> dict[str, str]:
        """Name of each section that has something to show -> its heading."""
        headings: dict[str, str] = {}
        for name, section in SECTIONS.items():
            for content in section.of(self.view):
                headings.setdefault(name, content.heading)
        if self.runs:
            headings[IN_TIME] = "One run in time"
        return dict(sorted(headings.items(), key=lambda heading: heading[0] != FIRST))

    @cached_property
    def axes(self) -> dict[str, str]:
        """Name of each parameter that may be on x -> its label; the default is the first."""
        arrange = partial(arranged, points(self.view.tables))
        return {name: headed(name) for name in arrange().names if _with_x(name, arrange).x == name}

    @cached_property
    def runs(self) -> dict[str, str]:
        """Name of each run that is recorded second by second -> its point and repeat."""
        runs, names = completed(self.view.tables["runs"]), ("threads", *self.view.axes)
        recorded = runs[runs["run"].isin(self.view.tables["intervals"]["run"])]
        return {
            row["run"]: f"{at(row, names)}, repeat {row['repeat']}"
            for row in recorded.to_dict("records")
        }

    def shown(self, section: str, x: str = "", run: str = "") -> Shown:
        """Return the output of a section with that axis on x, or, for ``IN_TIME``, of the run.

        Raises ``MqperfError`` for a run whose record is damaged.
        """
        return _with_x(x, lambda: Shown.of(self.title, [*self._contents(section, run)]))

    def _contents(self, section: str, run: str) -> Iterator[Content]:
        if section == IN_TIME:
            drawing = explorers.drawing(self.view.tables, self.source, run)
            yield Content(heading=self.sections[section], words=[drawing.alt], drawing=drawing)
        else:
            yield from SECTIONS[section].of(self.view)


def choices(tables: Tables, source: Path) -> list[Choices]:
    """Return the choices of each measured test case on each layout."""
    return [Choices(view, source) for view in views(tables)]


def _with_x(x: str, work: Callable[[], T]) -> T:
    """Return the result of ``work`` with that axis on x."""
    context = copy_context()
    context.run(ON_X.set, x)
    return context.run(work)
