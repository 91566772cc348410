"""The first screen: answers, what was measured, what is uncertain, and what would settle it."""

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from textwrap import wrap

from typing_extensions import override

from mqperf.base.one_line import amount
from mqperf.pages.questions import Answer, answers
from mqperf.pages.questions.basis import measured, uncertain
from mqperf.pages.report.rst import Text
from mqperf.pages.report.words import left_out
from mqperf.pages.sections import forms
from mqperf.plan import Plan
from mqperf.study import stats
from mqperf.study import tables as tables_of
from mqperf.study.tables import Tables, all_attempts

UNCERTAIN, SETTLE = "Not certain", "What would settle it"

AGAIN = Text("Change the plan and run it again: *mqperf run PLAN* measures only what is missing.")

USUAL_WIDTH = 100
"""Columns of text if the width of the terminal is not known."""

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|m?s)(?!\w))")
"""A space at which no line is broken: ``7.1 s``, ``-5 %``."""

_NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True, repr=False)
class FirstScreen:
    """The answers to the questions of a plan, in order, and their basis."""

    answers: Sequence[Answer]
    measured: str
    uncertain: Sequence[str]

    @override
    def __repr__(self) -> str:
        return "\n".join(lines(self))

    def _repr_html_(self) -> str:
        return as_html(self)

    @property
    def settle(self) -> list[Text]:
        """What would decide open questions, without duplicates, and how to do it."""
        texts = [*dict.fromkeys(text for answer in self.answers for text in answer.settle)]
        return [*texts, AGAIN] if texts else []


def first_screen(tables: Tables, plan: Plan | None = None, unread: str = "") -> FirstScreen:
    """Answer complete tables of one plan; ``unread`` is why the plan cannot be read, if so."""
    notes = [f"Note: {unread}"] if unread else []
    return FirstScreen(
        [*answers(tables, () if plan is None else plan.question)],
        measured(tables),
        [*notes, *left_out(all_attempts(tables)), *uncertain(tables)],
    )


def lines(screen: FirstScreen, width: int | None = None) -> Iterator[str]:
    """Yield the screen as text for a terminal of this width; without one sentences of 100."""
    indented = partial(_indented, width=width or USUAL_WIDTH)
    for answer in screen.answers:
        yield from wrap(answer.question, width or USUAL_WIDTH)
        yield from indented(answer.sentences)
        if answer.table is not None:
            yield ""
            yield from forms.table_lines(answer.table, width or sys.maxsize)
        yield ""
    yield from wrap(screen.measured, width or USUAL_WIDTH, subsequent_indent="  ")
    for heading, texts in ((UNCERTAIN, screen.uncertain), (SETTLE, screen.settle)):
        if texts:
            yield f"{heading}:"
            yield from indented(texts)


def _indented(texts: Sequence[str], width: int) -> Iterator[str]:
    for text in texts:
        unbreakable = _BEFORE_UNIT.sub(_NO_BREAK, forms.plain(text))
        for line in wrap(unbreakable, width, initial_indent="  ", subsequent_indent="    "):
            yield line.replace(_NO_BREAK, " ")


def as_html(screen: FirstScreen) -> str:
    """Return the screen for a notebook, with the figure of the first answer as a picture."""
    parts = []
    for number, answer in enumerate(screen.answers):
        parts += [f"<h3>{escape(answer.question)}</h3>", _items(answer.sentences)]
        if number == 0 and answer.drawing is not None:
            parts.append(answer.drawing.picture())
    parts.append(f"<p>{escape(screen.measured)}</p>")
    for heading, texts in ((UNCERTAIN, screen.uncertain), (SETTLE, screen.settle)):
        if texts:
            parts += [f"<p>{heading}:</p>", _items(texts)]
    tables = (forms.frame(answer.table) for answer in screen.answers if answer.table is not None)
    return "".join([*parts, *(table.to_html(index=False, na_rep="") for table in tables)])


def _items(texts: Sequence[str]) -> str:
    items = (f"<li>{escape(forms.plain(text))}</li>" for text in texts)
    return f"<ul>{''.join(items)}</ul>"


def of_folder(runs: Path, width: int | None = None) -> Iterator[str]:
    """Yield the first screen of a runs folder as text, and the next commands to run."""
    tables = tables_of.of_plan(stats.complete(tables_of.read(runs)))
    yield from lines(first_screen(tables, *tables_of.plan_of(runs)), width)
    yield ""
    folder = shlex.quote(str(runs))
    yield f"{amount(len(tables['doubts']), 'doubt')}: mqperf audit {folder}"
    out = shlex.quote(f"reports/{runs.resolve().name}")
    yield f"pages to publish: mqperf report {folder} --out {out}"
