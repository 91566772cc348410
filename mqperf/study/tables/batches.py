"""Many runs as tables: read a few at a time, on all cores, and reduced before the next are read.

What is kept of a run is what its reduction leaves, so that memory follows the tables that are asked
for, and never the records.
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
from mqperf.study.tables.shape import Tables, conform, empty, in_order

TOGETHER = 16
"""Runs of a batch: their tables are made in one go, which is cheaper than one by one."""

IN_ONE = 16
"""Batches of which the tables become one when they are there: many small frames take more memory
than their rows.
"""

NAME = re.compile(
    r"(?P<system>.+?)-(?P<topology>[^-]+)-(?P<queues>[^-]+)-(?P<test_case>.+?)-t(?P<threads>\d{4,9})-p\d+"
    r"-(?:r(?P<repeat>\d{1,9})|s\d)-[0-9a-f]{8}"
)
"""A case's id, as far as one can tell from it what the case was."""

Reduce = Callable[[Tables], Tables]
"""What is kept of the tables of a batch.

It may add tables of its own, with the keys of their rows.  It runs in another process, so that only
what it gives, and what it writes, is left of it.
"""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was read of one attempt: its keys, and its tables without them."""

    keys: Mapping[str, Any]
    frames: Mapping[str, pd.DataFrame]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What is kept of some attempts, and why those that cannot be read cannot."""

    tables: Tables
    problems: Sequence[str]


def read_names() -> tuple[str, ...]:
    """The names of the tables that are read; the others are computed from them."""
    return tuple(
        name for name, table in TABLES.items() if name not in COMPUTED and not table.of_folders
    )


def unreduced(tables: Tables) -> Tables:
    """Everything."""
    return tables


def of_runs(attempts: Iterable[Run], reduce: Reduce = unreduced) -> dict[str, pd.DataFrame]:
    """The tables of these runs, by the axes of the sweep: threads rise within a test case.

    A run that cannot be read has a row in ``runs`` with the reason, and no others.  Raises
    ``TableError`` when there are such and no other.
    """
    tried = list(attempts)
    parts = [tried[first : first + TOGETHER] for first in range(0, len(tried), TOGETHER)]
    collected = _Found()
    processes.shared_out(partial(_batch, reduce=reduce), parts, collected.take)
    problems = collected.problems
    if problems and len(problems) == len(tried):
        raise TableError(
            f"none of {len(tried)} runs can be read: {problems[0].rstrip('.')};"
            " restore the files from a copy, or remove the run folders and measure again"
        )
    return {name: in_order(frame) for name, frame in collected.tables().items()}


class _Found:
    """What has been read so far."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._whole: list[Tables] = []
        self._waiting: list[Tables] = []

    def take(self, batch: Batch) -> None:
        self.problems += batch.problems
        self._waiting.append(batch.tables)
        if len(self._waiting) == IN_ONE:
            self._whole.append(_in_one(self._waiting))
            self._waiting = []

    def tables(self) -> dict[str, pd.DataFrame]:
        """The rows of all batches, one after the other."""
        tables = _in_one([*self._whole, *self._waiting])
        names = dict.fromkeys((*read_names(), *tables))
        return {name: tables[name] if name in tables else empty(name) for name in names}


def read_attempts(attempts: Iterable[Run]) -> list[Attempt]:
    """Every attempt; of one that cannot be read its row in ``runs``, with the reason."""
    return [_read(run) for run in attempts]


def _batch(attempts: Sequence[Run], reduce: Reduce) -> Batch:
    read = read_attempts(attempts)
    try:
        tables = _all(read)
    except TableError:
        read = [_checked(run, attempt) for run, attempt in zip(attempts, read, strict=True)]
        tables = _all(read)
    problems = [attempt.problem for attempt in read if attempt.problem is not None]
    kept = reduce(tables)
    return Batch({n: f for n, f in kept.items() if len(f) or n not in TABLES}, problems)


def _all(attempts: Sequence[Attempt]) -> dict[str, pd.DataFrame]:
    owners = pd.DataFrame([dict(attempt.keys) for attempt in attempts])
    return {
        name: _joined(name, owners, [attempt.frames.get(name) for attempt in attempts])
        for name in read_names()
    }


def _joined(name: str, owners: pd.DataFrame, frames: Sequence[pd.DataFrame | None]) -> pd.DataFrame:
    """The rows of all frames, each with the keys of its owner, the attempt at the same place."""
    lengths = [0 if frame is None else len(frame) for frame in frames]
    filled = [frame for frame in frames if frame is not None and len(frame)]
    if not filled:
        return empty(name)
    rows = pd.concat(filled, ignore_index=True)
    of_rows = owners.take(np.repeat(np.arange(len(owners)), lengths)).reset_index(drop=True)
    return conform(name, pd.concat([of_rows, rows], axis="columns"))


def _in_one(parts: Sequence[Tables]) -> dict[str, pd.DataFrame]:
    """The rows of all parts, table by table."""
    frames: dict[str, list[pd.DataFrame]] = {}
    for tables in parts:
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
    run_keys = _told_by_name(run) if case is None else keys(run.id, case)
    of_folder = str(reason).replace(f"{run.path.parent}/", "")  # where that lies is nobody's affair
    frames = {"runs": pd.DataFrame([unreadable_row(facts, of_folder)])}
    return Attempt(run_keys, frames, str(reason))


def _told_by_name(run: Run) -> dict[str, Any]:
    """What the name of the folder tells of a run whose facts cannot be read; never its point."""
    match = NAME.fullmatch(run.case_id)
    if match is None:
        return {"run": run.id}
    parts: dict[str, Any] = dict(match.groupdict())
    repeat = 1 if parts["repeat"] is None else int(parts["repeat"])
    return {"run": run.id, **parts, "threads": int(parts["threads"]), "repeat": repeat}
