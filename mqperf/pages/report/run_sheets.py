"""The runs of a page: a description of each, and the command that measures it again."""

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
"""Run or point -> relative URL of the run, or of the first run of the point, from its page."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A run: its anchor on the page, its description, and the command to measure it again."""

    anchor: Text
    text: Text


def sheets(tables: Tables) -> dict[str, str]:
    """Return the links of the rows of these tables; runs copied from a report have none."""
    runs = measured(tables)
    address = {run: f"{FOLDER}/index.html#run-{n}" for n, run in enumerate(runs["run"], 1)}
    first = runs.dropna(subset="point").drop_duplicates("point").set_index("point")["run"]
    return {**{str(point): address[run] for point, run in first.items()}, **address}


def each(tables: Tables, explorers: Explorers, plan: Plan | None) -> Iterator[Sheet]:
    """Yield the runs of a page, in the order of their table.

    Runs that are cases of the ``plan`` have a command; runs of a search depend on results.
    """
    runs = measured(tables)
    several_hosts = tables["hosts"].groupby("run")["host"].nunique().gt(1)
    cases = {case.id for case in plan.cases()} if plan and plan.search is None else set()
    inventory = " --hosts INVENTORY" if plan and not plan.hosts else ""
    for number, row in enumerate(runs.to_dict("records"), 1):
        facts = _facts(row, tables, ("threads", *varied(runs)))
        if row["run"] in explorers:
            facts.append(download("in time", f"{explorers[row['run']].name}.svg"))
        if row["case"] in cases:
            digest = row["case"].rpartition("-")[2]
            command = f"mqperf run plan.yaml --only {digest} --runs again"
            command += inventory if several_hosts.get(row["run"], default=False) else ""
            facts.append(Text(f"again: ``{command}``"))
        yield Sheet(Text(f"run-{number}"), Text("; ").join(facts))


def measured(tables: Tables) -> pd.DataFrame:
    """Return the runs that were not copied from a report."""
    runs = tables["runs"]
    return runs[runs["status"].ne("published") & runs["test_case"].notna()]


def _facts(row: Mapping[Hashable, Any], tables: Tables, names: Sequence[str]) -> list[Text]:
    """Return name and point of a run, its start, position and failure, and its doubts."""
    doubts = tables["doubts"]
    of_run = doubts["run"].fillna(doubts["point"]).isin([row["run"], row["point"]])
    kinds = list(doubts.loc[of_run, "kind"].unique())
    facts = [
        Text("**{}**: {}, {}, repeat {}").format(
            row["run"], TEST_CASES[row["test_case"]].title, at(row, names), row["repeat"]
        )
    ]
    if pd.notna(row["started"]):
        facts.append(Text(f"begun {row['started']:%Y-%m-%d %H:%M:%S} UTC"))
    if pd.notna(row["position"]):
        facts.append(Text(f"number {row['position']} of its plan"))
    if row["status"] != "done":
        facts.append(Text("{}: {}").format(row["status"], row["failure"]))
    facts.append(Text("{}").format(f"doubts: {joined(kinds)}" if kinds else "no doubts"))
    return facts


def linked(cell: str, address: str | None) -> Text:
    """Make the text of a cell, but not its footnote marks, a link to an address."""
    text, mark, notes = Text.escape(cell).partition(" [#")
    if address is None or not text:
        return Text.escape(cell)
    return Text(f"`{text} <{address}>`__{mark}{notes}")
