"""Findings, the results of rules, and the view of the tables that most rules need."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from mqperf.plan.pace import CYCLE, LATE, PROFILE, RATE, STEPS, THREAD_RATE
from mqperf.plan.test_cases import closed_loops, with_replies
from mqperf.study.tables import Tables, completed, once, varied
from mqperf.study.tables.axes import FACTORS
from mqperf.study.tables.shape import AXES

Row = Any
"""A row of a frame, its columns as attributes, with the types of ``plan.columns``."""

Evidence = Mapping[str, float | int | str | list[float] | Mapping[str, float] | None]


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason to distrust the numbers of a run, and the figures that show it."""

    run: str
    text: str
    evidence: Evidence = field(default_factory=dict)


RUN_KEYS = ("run", "point", *AXES)
"""Columns that identify the run of a row, and its place in the sweep."""

IN_FLIGHT_PER_THREAD = 4
"""Places at which one message of each thread may be worked on without waiting: the client, two
nodes, the server."""


@once
def measured(tables: Tables) -> pd.DataFrame:
    """One row per run that gave figures: its columns of ``runs`` and ``messages``, three latencies.

    These are the mean, p99 and the largest.  ``asked`` is the number of deliveries due for all its
    messages, ``each_has`` the number per message: one, unless recorded otherwise.
    """
    runs = completed(tables["runs"])
    keys = [name for name in tables["messages"].columns if name in runs.columns and name != "run"]
    messages = tables["messages"].drop(columns=keys)
    names = ["run", "latency_mean_s", "latency_p99_s", "latency_max_s"]
    latency = tables["latency"][names].drop_duplicates("run")
    frame = runs.merge(messages, on="run", how="left").merge(latency, on="run", how="left")
    asked = frame["deliveries"].fillna(frame["sent"])
    each_has = (asked / frame["sent"].where(frame["sent"] > 0)).astype("float64").fillna(1.0)
    return frame.assign(asked=asked, each_has=each_has)


def of_actions(tables: Tables, frame: pd.DataFrame, column: str) -> pd.Series:
    """The messages in ``column`` that actions of each run of a frame cost; 0 without actions.

    NA where the cost of any of its actions is not known.
    """
    phases = tables["action_phases"]
    costs = phases[phases["phase"].eq("during")].groupby("run")[column]
    cost = costs.agg(lambda counts: counts.sum(skipna=False))
    return cost.reindex(frame["run"], fill_value=0).set_axis(frame.index).astype("Int64")


def found(frame: pd.DataFrame, text: str, *evidence: str) -> Iterator[Finding]:
    """A finding for each row: ``text`` formatted with its columns, and the columns of evidence."""
    for row in each(frame):
        values = row._asdict()
        figures = {name: _plain(values[name]) for name in evidence}
        yield Finding(row.run, text.format_map(values), figures)


def _plain(value: Any) -> Any:  # noqa: ANN401 (of whatever type the column is)
    return value.item() if isinstance(value, np.generic) else value


def each(frame: pd.DataFrame) -> Iterator[Row]:
    """The rows of a frame, one after the other."""
    if len(frame):  # itertuples of an empty frame takes as long as of a hundred rows
        yield from frame.itertuples(index=False)


def detail(event: Row) -> Mapping[str, Any]:
    """The JSON object in ``detail`` of an event; empty where there is none."""
    try:
        content = json.loads(event.detail)
    except (TypeError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def calls(tables: Tables) -> pd.DataFrame:
    """The measured runs that wait for replies."""
    frame = measured(tables)
    return frame[frame["test_case"].isin(with_replies())]


def closed(tables: Tables) -> pd.DataFrame:
    """The measured runs in which a thread sends its next message when the last is finished."""
    frame = measured(tables)
    return frame[frame["test_case"].isin(closed_loops()) & offered(frame).isna()]


def offered(frame: pd.DataFrame) -> pd.Series:
    """The rate that each run was offered; NaN where clients sent as fast as they could."""
    of_threads = parameter(frame, THREAD_RATE) * frame["threads"].astype("float64")
    return parameter(frame, RATE).fillna(of_threads)


def parameter(frame: pd.DataFrame, name: str) -> pd.Series:
    """The value of a plan parameter of each run; NaN where it is not set."""
    return frame.reindex(columns=[name])[name].astype("float64")


def beside_threads(frame: pd.DataFrame) -> list[str]:
    """The parameters that vary over these runs, except factors of their number of threads."""
    return [name for name in varied(frame) if name not in FACTORS]


def steady(frame: pd.DataFrame) -> pd.DataFrame:
    """The runs whose offered rate does not change in steps: those are judged step by step."""
    return frame[frame[STEPS].isna()] if STEPS in frame.columns else frame


def consumed_after(frame: pd.DataFrame) -> pd.Series:
    """Seconds into the window at which consumers start, by the plan; NaN where they start first."""
    return parameter(frame, LATE) - frame["warmup_s"]


def in_cycles(frame: pd.DataFrame) -> pd.Series:
    """Whether the plan makes the rate of each run go up and down, in cycles or by a profile."""
    return frame.reindex(columns=[CYCLE, PROFILE]).notna().any(axis=1)


def in_parts(frame: pd.DataFrame) -> pd.Series:
    """Whether the plan divides a run into parts, so that its means describe none of them."""
    return consumed_after(frame).notna() | in_cycles(frame)


def one_way(tables: Tables) -> pd.DataFrame:
    """The measured runs that do not wait for replies."""
    frame = measured(tables)
    return frame[~frame["test_case"].isin(with_replies())]
