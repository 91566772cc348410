"""Read many runs into tables in batches, on all cores; each batch is reduced before the next.

Only the reduced tables are kept, so memory grows with the requested tables, not with the records.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mqperf.base import processes
from mqperf.base.errors import MqperfError, TableError
from mqperf.plan.columns import COMPUTED, TABLES
from mqperf.record import Facts, Run
from mqperf.study.tables.of_run import keys, of_run
from mqperf.study.tables.run_row import unreadable_row
from mqperf.study.tables.shape import Tables, conform, empty, in_order, python_strings

TOGETHER = 16
"""Runs per batch: making their tables together is cheaper than one by one."""

PENDING_LIMIT = 16
"""Batches whose tables are concatenated at a time: many small frames take more memory than a large
one.
"""

NAME = re.compile(
    r"(?P<system>.+?)-(?P<topology>[^-]+)-(?P<queues>[^-]+)-(?P<test_case>.+?)-t(?P<threads>\d{4,9})-p\d+"
    r"-(?:r(?P<repeat>\d{1,9})|s\d)-[0-9a-f]{8}"
)
"""A case's id, with groups for the properties that it states."""

Reduce = Callable[[Tables], Tables]
"""Reduces the tables of a batch to what is kept of them.

It may add tables of its own, with the keys of their rows.  It runs in another process, so only its
result and the files that it writes remain.
"""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt as read: its key columns, and its tables without them."""

    keys: Mapping[str, Any]
    frames: Mapping[str, pd.DataFrame]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """The reduced tables of a batch, and an error message for each attempt that is unreadable."""

    tables: Tables
    problems: Sequence[str]


def read_names() -> tuple[str, ...]:
    """The names of the tables that are read from run folders; others are computed from these."""
    return tuple(
        name for name, table in TABLES.items() if name not in COMPUTED and not table.of_folders
    )


def unreduced(tables: Tables) -> Tables:
    """Return the tables unchanged."""
    return tables


@python_strings
def of_runs(attempts: Iterable[Run], reduce: Reduce = unreduced) -> dict[str, pd.DataFrame]:
    """The tables of these runs, sorted by the axes of the sweep: threads rise within a test case.

    A run that cannot be read has a row in ``runs`` with the reason, and no others.  Raises
    ``TableError`` if none of the runs can be read.
    """
    tried = list(attempts)
    batches = [tried[first : first + TOGETHER] for first in range(0, len(tried), TOGETHER)]
    collected = _Collected()
    processes.shared_out(partial(_read_batch, reduce=reduce), batches, collected.add)
    problems = collected.problems
    if problems and len(problems) == len(tried):
        raise TableError(
            f"none of {len(tried)} runs can be read: {problems[0].rstrip('.')};"
            " restore the files from a copy, or remove the run folders and measure again"
        )
    return {name: in_order(frame) for name, frame in collected.tables().items()}


class _Collected:
    """The tables and problems of the batches read so far."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._merged: list[Tables] = []
        self._pending: list[Tables] = []

    def add(self, batch: Batch) -> None:
        self.problems += batch.problems
        self._pending.append(batch.tables)
        if len(self._pending) == PENDING_LIMIT:
            self._merged.append(_concatenated(self._pending))
            self._pending = []

    def tables(self) -> dict[str, pd.DataFrame]:
        """The rows of all batches, one after the other."""
        tables = _concatenated([*self._merged, *self._pending])
        names = dict.fromkeys((*read_names(), *tables))
        return {name: tables[name] if name in tables else empty(name) for name in names}


def read_attempts(attempts: Iterable[Run]) -> list[Attempt]:
    """Read the attempts; one that is unreadable has only a row in ``runs``, with the reason."""
    return [_read(run) for run in attempts]


def _read_batch(attempts: Sequence[Run], reduce: Reduce) -> Batch:
    read = read_attempts(attempts)
    try:
        tables = _tables(read)
    except TableError:
        read = [_checked(run, attempt) for run, attempt in zip(attempts, read, strict=True)]
        tables = _tables(read)
    problems = [attempt.problem for attempt in read if attempt.problem is not None]
    kept = reduce(tables)
    return Batch({n: f for n, f in kept.items() if len(f) or n not in TABLES}, problems)


def _tables(attempts: Sequence[Attempt]) -> dict[str, pd.DataFrame]:
    owners = pd.DataFrame([dict(attempt.keys) for attempt in attempts])
    return {
        name: _keyed(name, owners, [attempt.frames.get(name) for attempt in attempts])
        for name in read_names()
    }


def _keyed(name: str, owners: pd.DataFrame, frames: Sequence[pd.DataFrame | None]) -> pd.DataFrame:
    """The rows of all frames, with key columns: those of the row of ``owners`` for each frame."""
    lengths = [0 if frame is None else len(frame) for frame in frames]
    filled = [frame for frame in frames if frame is not None and len(frame)]
    if not filled:
        return empty(name)
    rows = pd.concat(filled, ignore_index=True)
    row_keys = owners.take(np.repeat(np.arange(len(owners)), lengths)).reset_index(drop=True)
    return conform(name, pd.concat([row_keys, rows], axis="columns"))


def _concatenated(batches: Sequence[Tables]) -> dict[str, pd.DataFrame]:
    """The tables of all batches, concatenated."""
    frames: dict[str, list[pd.DataFrame]] = {}
    for tables in batches:
        for name, frame in tables.items():
            frames.setdefault(name, []).append(frame)
    return {name: _one_frame(name, of_table) for name, of_table in frames.items()}


def _one_frame(name: str, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    if len(filled) < 2:
        return (filled or frames)[0]
    rows = pd.concat(filled, ignore_index=True)
    return conform(name, rows) if name in TABLES else rows


def _read(run: Run) -> Attempt:
    facts = None
    try:
        facts = run.facts()
        return Attempt(keys(run.id, facts.case), of_run(run, facts))
    except MqperfError as error:
        return _unreadable(run, facts, error)


def _checked(run: Run, attempt: Attempt) -> Attempt:
    try:
        for name, frame in attempt.frames.items():
            conform(name, frame)
    except MqperfError as error:
        return _unreadable(run, run.facts(), type(error)(f"{run.path}: {error}"))
    return attempt


def _unreadable(run: Run, facts: Facts | None, reason: MqperfError) -> Attempt:
    case = None if facts is None else facts.case
    run_keys = _keys_from_name(run) if case is None else keys(run.id, case)
    failure = str(reason).replace(f"{run.path.parent}/", "")  # without the private path
    frames = {"runs": pd.DataFrame([unreadable_row(facts, failure)])}
    return Attempt(run_keys, frames, str(reason))


def _keys_from_name(run: Run) -> dict[str, Any]:
    """The keys, but for the point, in the folder name of a run whose facts cannot be read."""
    match = NAME.fullmatch(run.case_id)
    if match is None:
        return {"run": run.id}
    groups: dict[str, Any] = dict(match.groupdict())
    repeat = 1 if groups["repeat"] is None else int(groups["repeat"])
    return {"run": run.id, **groups, "threads": int(groups["threads"]), "repeat": repeat}
