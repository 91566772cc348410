"""Sections on the actions of a plan, and their effects."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.report.words import joined
from mqperf.pages.sections.section import Content, Section, View, present
from mqperf.plan.columns import ACTION_PHASES, COLUMNS, COST, OUTAGES
from mqperf.study.tables import Tables, in_curves, tidy, with_parameters


def outages(view: View) -> Iterator[Content]:
    """Yield a table with a row for each action of a run."""
    table = of_actions(view.tables)
    cost = [name for name in present(table, COST, keep=("lost",)) if name not in _summed(table)]
    yield Content(
        heading="Outages",
        words=[*_words(table)],
        caption=view.caption("outages"),
        rows=table,
        columns=view.columns(table, (*OUTAGES, *cost, "duplicates")),
        key="run",
        data=tidy(table),
    )


def of_actions(tables: Tables) -> pd.DataFrame:
    """Return one row per action of a run: losses, largest latency, and the run's duplicates."""
    key, phases = ["run", "action", "node", "commanded_s"], tables["action_phases"]
    cost = phases.loc[phases["phase"] == "during", [*key, *COST, "latency_max_s"]]
    joined = tables["outages"].merge(cost, on=key, how="left")
    joined = joined.merge(tables["messages"][["run", "duplicates"]], on="run", how="left")
    return in_curves(with_parameters(joined, tables["runs"]), "repeat", "commanded_s")


def _words(outages: pd.DataFrame) -> Iterator[str]:
    """Yield the actions, and the meaning of the columns."""
    actions = joined(list(outages["action"].unique()))
    yield f"Actions of the plan during the measured window: {actions}."
    for name in ("downtime_s", "outage_s", "recovery_s"):
        column = COLUMNS[name]
        yield f"{column.label.capitalize()}: {column.meaning[0].lower()}{column.meaning[1:]}"
    yield (
        "Times are in seconds. Lost and failed messages are those due from the second before an"
        " action began until throughput recovered, or the next action began; duplicates are those"
        " of the whole run."
    )


def phases(view: View) -> Iterator[Content]:
    """Yield a table with a row for the time before, during and after each action of a run."""
    figures = view.of_runs("action_phases", "commanded_s", "from_s")
    names = [name for name in ACTION_PHASES if name not in {"commanded_s", *_summed(figures)}]
    yield Content(
        heading="Before, during and after the actions",
        words=[
            (
                "Messages by the second of the measured window in which they were due, or sent"
                " where none is due. Latency is that of those that were finished."
            )
        ],
        caption=view.caption("phases of actions"),
        rows=figures,
        columns=view.columns(figures, names, keep=names[:5]),
        key="run",
        data=tidy(figures),
    )


def _summed(figures: pd.DataFrame) -> tuple[str, ...]:
    """Return ``("errors",)`` if all rows have it split in released, modified and rejected."""
    return ("errors",) if figures["released"].notna().all() else ()


SECTION = Section("outages", outages)
PHASES = Section("action_phases", phases)
