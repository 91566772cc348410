"""What a rule gives, and the view of the tables that most rules need."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from mqperf.plan.pace import CYCLE, LATE, PROFILE, RATE, STEPS, THREAD_RATE
from mqperf.plan.test_cases import closed_loops, with_replies
from mqperf.study.tables import Tables, completed, varied
from mqperf.study.tables.axes import FACTORS
from mqperf.study.tables.shape import AXES

Row = Any
"""A row of a frame, its columns as attributes; the register knows their types."""

Evidence = Mapping[str, float | int | str | list[float] | Mapping[str, float] | None]


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason to distrust the numbers of a run, and the figures that show it."""

    run: str
    text: str
    evidence: Evidence = field(default_factory=dict)


RUN_KEYS = ("run", "point", *AXES)
"""Columns that say which run, and where in the sweep, a row is of."""

IN_FLIGHT_PER_THREAD = 4
"""Places at which one message of each thread may be worked on without waiting: the client, two
nodes, the server."""

MEASURED = "measured"
"""Under which name rules find what ``measured`` gives, made once for all of them."""


def with_measured(tables: Tables) -> Tables:
    """The tables, and beside them what most rules look at."""
    return {**tables, MEASURED: measured(tables)}


def measured(tables: Tables) -> pd.DataFrame:
    """One row per run that gave figures: its row of ``runs``, its messages, three latencies.

    These are the mean, p99 and the largest.  ``asked`` is how many deliveries its messages are to
    have, ``each_has`` how many each of them: one, unless they tell more.
    """
    if (known := tables.get(MEASURED)) is not None:
        return known
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
    """For each row of a frame of runs, so many messages its actions cost; 0 without actions.

    Where that of any action is not known, theirs is not.
    """
    phases = tables["action_phases"]
    costs = phases[phases["phase"].eq("during")].groupby("run")[column]
    cost = costs.agg(lambda counts: counts.sum(skipna=False))
    return cost.reindex(frame["run"], fill_value=0).set_axis(frame.index).astype("Int64")


def found(frame: pd.DataFrame, text: str, *evidence: str) -> Iterator[Finding]:
    """A finding for each row: the text with its columns filled in, and the columns that show it."""
    for row in each(frame):
        values = row._asdict()
        figures = {name: _plain(values[name]) for name in evidence}
        yield Finding(row.run, text.format_map(values), figures)


def _plain(value: Any) -> Any:  # noqa: ANN401 (of whatever type the column is)
    return value.item() if isinstance(value, np.generic) else value


def each(frame: pd.DataFrame) -> Iterator[Row]:
    """The rows of a frame, one after the other."""
    if len(frame):  # to find out that there is none takes itertuples as long as a hundred rows
        yield from frame.itertuples(index=False)


def detail(event: Row) -> Mapping[str, Any]:
    """What an event tells more, by its key; nothing of one that tells no more, or no JSON."""
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
    """What plans ask of each run; NaN where they do not."""
    return frame.reindex(columns=[name])[name].astype("float64")


def beside_threads(frame: pd.DataFrame) -> list[str]:
    """The parameters of which these runs have several values, but for factors of their threads."""
    return [name for name in varied(frame) if name not in FACTORS]


def steady(frame: pd.DataFrame) -> pd.DataFrame:
    """The runs whose offered rate does not change in steps: those are judged step by step."""
    return frame[frame[STEPS].isna()] if STEPS in frame.columns else frame


def consumed_after(frame: pd.DataFrame) -> pd.Series:
    """Seconds of the window after which consumers start, as plans ask; NaN where they are first."""
    return parameter(frame, LATE) - frame["warmup_s"]


def in_cycles(frame: pd.DataFrame) -> pd.Series:
    """Whether the rate of each run goes up and down in cycles, or by a profile, as plans ask."""
    return frame.reindex(columns=[CYCLE, PROFILE]).notna().any(axis=1)


def in_parts(frame: pd.DataFrame) -> pd.Series:
    """Whether a run is of several parts, of which its means tell of none, as plans ask."""
    return consumed_after(frame).notna() | in_cycles(frame)


def one_way(tables: Tables) -> pd.DataFrame:
    """The measured runs that do not."""
    frame = measured(tables)
    return frame[~frame["test_case"].isin(with_replies())]
