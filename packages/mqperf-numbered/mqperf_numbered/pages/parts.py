"""Runs of several parts, each a row of a table: what their sections and answers have alike."""

from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from mqperf.pages.questions.question import MORE_REPEATS, Answer
from mqperf.pages.questions.words import Row, where_of
from mqperf.pages.report.rst import Text
from mqperf.pages.sections import rows
from mqperf.pages.sections.section import Content, View
from mqperf.plan.columns import Table
from mqperf.plan.topologies import QUEUES
from mqperf.study.tables import Tables, at, tidy, varied, with_parameters


def content(view: View, table: Table, about: tuple[str, str, str], keep: int) -> Iterator[Content]:
    """A row for each part of a run, in a section with this heading, caption and words.

    So many columns are shown even where they are empty.
    """
    if view.tables[table.name].empty:
        return
    heading, caption, words = about
    parts = rows.of_runs(view.tables, table.name, "from_s")
    names = tuple(column if isinstance(column, str) else column.name for column in table.own)
    yield Content(
        heading=heading,
        words=[words],
        caption=view.caption(caption),
        rows=parts,
        columns=view.columns(parts, names, keep=names[:keep]),
        key="run",
        data=tidy(parts),
    )


def answer(
    tables: Tables,
    table: Table,
    question: str,
    sentence: Callable[[pd.DataFrame, Sequence[str], Tables], Text],
    settle: Sequence[Text] = (),
) -> Answer:
    """A ``sentence`` for each point, of its parts and the names that tell it from others."""
    parts = with_parameters(tables[table.name], tables["runs"])
    varying = [name for name in ("threads", *varied(tables["runs"])) if _several(parts[name])]
    points = [part for _, part in parts.groupby("point", sort=False)]
    alone = len(parts["run"].unique()) == len(points)
    return Answer(
        question=question,
        sentences=[sentence(point, varying, tables) for point in points],
        settle=[*settle, *([MORE_REPEATS] if alone else [])],
    )


def places(row: Row, varying: Sequence[str], tables: Tables) -> Iterator[str]:
    """What tells the point from others: only the queues, where layouts differ by nothing else."""
    runs = tables["runs"]
    if _several(runs["system"]) or _several(runs["topology"]):
        yield where_of(row, varying, tables)
        return
    if _several(runs["queues"]):
        yield "streams" if QUEUES[row["queues"]].log else f"{row['queues']} queues"
    if varying:
        yield at(row, varying)


def _several(values: pd.Series) -> bool:
    """Whether they differ."""
    return len(values.dropna().unique()) > 1
