"""Sections and answers on tables with several rows for a run, one for each part of it."""

from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from mqperf.pages.questions.question import MORE_REPEATS, Answer, Answering
from mqperf.pages.questions.words import Row
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import Table
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.tables import Tables, in_curves, tidy, varied, with_parameters


def section(table: Table, about: tuple[str, str, str], keep: int, order: str = "from_s") -> Section:
    """Return the section of a table; ``about`` has its heading, caption and text.

    The first ``keep`` columns are shown even if they are empty.
    """
    heading, caption, words = about
    names = tuple(column if isinstance(column, str) else column.name for column in table.own)

    def content(view: View) -> Iterator[Content]:
        parts = view.of_runs(table.name, order)
        yield Content(
            heading=heading,
            words=[words],
            caption=view.caption(caption),
            rows=parts,
            columns=view.columns(parts, names, keep=names[:keep]),
            key="run",
            data=tidy(parts),
        )

    return Section(table.name, content)


def told_apart(tables: Tables, table: Table) -> tuple[pd.DataFrame, list[str]]:
    """Return the parts in order of points, with run parameters, and the names that vary."""
    parts = in_curves(with_parameters(tables[table.name], tables["runs"]), "run")
    names = ("threads", *varied(tables["runs"]))
    return parts, [name for name in names if len(parts[name].dropna().unique()) > 1]


def answer(
    question: str,
    parts: pd.DataFrame,
    sentence: Callable[[pd.DataFrame], Text],
    settle: Sequence[Text] = (),
    drawing: Drawing | None = None,
) -> Answer:
    """Return an answer with a ``sentence`` for the parts of each point."""
    points = [point_parts for _, point_parts in parts.groupby("point", sort=False)]
    unrepeated = len(parts["run"].unique()) == len(points)
    return Answer(
        question=question,
        sentences=[*map(sentence, points)],
        drawing=drawing,
        settle=[*settle, *([MORE_REPEATS] if unrepeated else [])],
    )


def answering(
    name: str,
    table: Table,
    question: str,
    sentence: Callable[[pd.DataFrame, Sequence[str], Tables], Text],
    drawing: Callable[[pd.DataFrame, pd.DataFrame, Sequence[str]], Drawing] | None = None,
) -> Answering:
    """Return how runs with parts in a table answer: a sentence for each point, and a drawing.

    ``sentence`` gets the parts of a point, the names of varying parameters, and all tables;
    ``drawing`` gets all parts, the table ``intervals``, and the same names.
    """

    def asked(tables: Tables) -> bool:
        return bool(len(tables[table.name]))

    def answered(tables: Tables) -> Answer:
        parts, varying = told_apart(tables, table)
        drawn = drawing(parts, tables["intervals"], varying) if drawing else None
        return answer(
            question, parts, lambda point: sentence(point, varying, tables), drawing=drawn
        )

    return Answering(name, asked, answered)


def doubted(row: Row, tables: Tables) -> Iterator[Text]:
    """Yield a sentence with the kinds of doubts about the point of a row, if there are any."""
    if kinds := kinds_by_point(tables).get(str(row["point"])):
        yield Text("Doubted: {}.").format(kinds)
