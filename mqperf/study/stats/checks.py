"""All doubts about the runs, as one table, and as lines of text and of JSON."""

import json
import math
from collections.abc import Iterator

import pandas as pd

from mqperf.plan.columns import TABLES
from mqperf.study.stats.doubt_kinds import CHECKS, WHOLE
from mqperf.study.tables import Selection, Tables, at, conform, empty, of_plan, varied
from mqperf.study.tables.axis_words import worded
from mqperf.study.tables.shape import python_strings

JSON_COLUMNS = ("system", "topology", "queues", "test_case", "threads", "run", "kind", "text")
"""The columns of ``doubts`` that a JSON line has beside the evidence."""


@python_strings
def doubts(tables: Tables) -> pd.DataFrame:
    """Everything that the checks find, one row per finding.

    Doubts that came with the tables, such as those about a report's wording, are not repeated.
    """
    everything, planned = Selection(tables), of_plan(tables)
    planned_only = everything if planned is tables else Selection(planned)
    rows = [
        {
            "run": finding.run,
            "kind": kind,
            "text": finding.text,
            "evidence": json.dumps(finding.evidence),
        }
        for kind, check in CHECKS.items()
        for finding in check.find(everything if kind in WHOLE else planned_only)
    ]
    if not rows:
        return empty("doubts")
    return conform("doubts", pd.DataFrame(rows).merge(_keys(tables), on="run", how="left"))


def _keys(tables: Tables) -> pd.DataFrame:
    """The key columns of each run, also of runs that the plan asks for and that are missing.

    A control run has a system, but none of the other keys.
    """
    runs = tables["runs"]
    names = [name for name in TABLES["doubts"].columns if name in runs.columns]
    ordinary = ~runs["control_run"].fillna(0).gt(0)
    sweep_keys = [name for name in names if name not in ("run", "system")]
    runs = runs[names].assign(**{name: runs[name].where(ordinary) for name in sweep_keys})
    planned = tables.get("planned")
    if planned is None or planned.empty:
        return runs
    return pd.concat([runs, planned.loc[~planned["run"].isin(runs["run"]), names]])


def as_json_lines(doubts: pd.DataFrame) -> Iterator[str]:
    """One JSON object per doubt: the point, the run, the kind, the text, the figures used."""
    for row in doubts.to_dict("records"):
        evidence = _plain(row["evidence"])
        line = {
            **{name: _plain(row[name]) for name in JSON_COLUMNS},
            "evidence": json.loads(str(evidence)) if evidence is not None else {},
        }
        yield json.dumps(line)


def as_text_lines(tables: Tables) -> Iterator[str]:
    """One line of text per doubt; the line ``no doubts`` when there is none."""
    doubts = tables["doubts"]
    if doubts.empty:
        yield "no doubts"
    for row, place in zip(doubts.to_dict("records"), places(doubts, tables), strict=True):
        yield f"{place}: {row['kind']}: {row['text']} [{row['run']}]"


def places(rows: pd.DataFrame, tables: Tables) -> Iterator[str]:
    """Where in a sweep each row is, in words: layout, test case, threads, parameters.

    These are the parameters that distinguish points of the tables; of a point without any run they
    are not known and left out.
    """
    runs = tables["runs"]
    control = tables["control_runs"].set_index("run")["control_run"].to_dict()
    names = list(varied(runs))
    values = runs.dropna(subset=["point"]).groupby("point")[names].first().to_dict("index")
    for row in rows.to_dict("records"):
        words = [_plain(row[name]) for name in JSON_COLUMNS[:4]]
        sweep = " ".join(str(word) for word in words if word is not None)
        sweep += f" control run {control[row['run']]}" if row["run"] in control else ""
        where = [worded("threads", row["threads"])] if pd.notna(row["threads"]) else []
        if names and (parameters := values.get(row["point"])) is not None:
            yield ", ".join([sweep, *where, at(parameters, names)])
        else:
            yield " ".join(filter(None, [sweep, *where]))


def _plain(value: object) -> str | int | None:
    if value is pd.NA or value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, str | int) else str(value)
