"""The runs of a page: what each was, and the command that measures it again."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mqperf.pages.report.explorers import FOLDER, Explorers
from mqperf.pages.report.rst import Text, download
from mqperf.pages.report.words import joined
from mqperf.plan import Plan
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, at, varied

Sheets = Mapping[str, str]
"""Run or point -> the address of its run, or of its first, as seen from the page of its numbers."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A run: where it stands on its page, what it was, and how it is measured again."""

    anchor: Text
    text: Text


def sheets(tables: Tables) -> dict[str, str]:
    """Where the rows of these tables lead; nowhere, where runs were copied from a report."""
    runs = measured(tables)
    address = {run: f"{FOLDER}/index.html#run-{n}" for n, run in enumerate(runs["run"], 1)}
    first = runs.dropna(subset="point").drop_duplicates("point").set_index("point")["run"]
    return {**{str(point): address[run] for point, run in first.items()}, **address}


def each(tables: Tables, explorers: Explorers, plan: Plan | None) -> Iterator[Sheet]:
    """The runs of a page, in the order of their table.

    Those that are cases of the ``plan`` have a command; what a search runs follows from results.
    """
    runs = measured(tables)
    several = tables["hosts"].groupby("run")["host"].nunique().gt(1)
    cases = {case.id for case in plan.cases()} if plan and plan.search is None else set()
    inventory = " --hosts INVENTORY" if plan and not plan.hosts else ""
    for number, row in enumerate(runs.to_dict("records"), 1):
        words = _words(row, tables, ("threads", *varied(runs)))
        if row["run"] in explorers:
            words.append(download("in time", f"{explorers[row['run']].name}.svg"))
        if row["case"] in cases:
            digest = row["case"].rpartition("-")[2]
            again = f"mqperf run plan.yaml --only {digest} --runs again"
            again += inventory if several.get(row["run"], default=False) else ""
            words.append(Text(f"again: ``{again}``"))
        yield Sheet(Text(f"run-{number}"), Text("; ").join(words))


def measured(tables: Tables) -> pd.DataFrame:
    """The runs, without those that were copied from a report."""
    runs = tables["runs"]
    return runs[runs["status"].ne("published") & runs["test_case"].notna()]


def _words(row: Mapping[Hashable, Any], tables: Tables, names: Sequence[str]) -> list[Text]:
    """What a run is, when it was made, and what is doubted about it."""
    doubts = tables["doubts"]
    about = doubts["run"].fillna(doubts["point"]).isin([row["run"], row["point"]])
    kinds = list(doubts.loc[about, "kind"].unique())
    words = [
        Text("**{}**: {}, {}, repeat {}").format(
            row["run"], TEST_CASES[row["test_case"]].title, at(row, names), row["repeat"]
        )
    ]
    if pd.notna(row["started"]):
        words.append(Text(f"begun {row['started']:%Y-%m-%d %H:%M:%S} UTC"))
    if pd.notna(row["position"]):
        words.append(Text(f"number {row['position']} of its plan"))
    if row["status"] != "done":
        words.append(Text("{}: {}").format(row["status"], row["failure"]))
    words.append(Text("{}").format(f"doubts: {joined(kinds)}" if kinds else "no doubts"))
    return words


def linked(cell: str, address: str | None) -> Text:
    """A cell whose text, but not its footnotes, leads to an address."""
    text, mark, notes = Text.escape(cell).partition(" [#")
    if address is None or not text:
        return Text.escape(cell)
    return Text(f"`{text} <{address}>`__{mark}{notes}")
