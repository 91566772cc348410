"""Many runs as tables: read a few at a time, on all cores, and reduced before the next are read.

What is kept of a run is what its reduction leaves, so that memory follows the tables that are asked
for, and never the records.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from mqperf.base import processes
from mqperf.base.errors import TableError
from mqperf.plan.columns import COMPUTED, TABLES
from mqperf.record import Run
from mqperf.study.tables.attempts import Attempt, conforming, read_attempts
from mqperf.study.tables.shape import Tables, conform, empty, in_order

READ = tuple(name for name in TABLES if name not in COMPUTED)
"""The tables that are read; the others are computed from them."""

TOGETHER = 16
"""Runs of a batch: their tables are made in one go, which is cheaper than one by one."""

IN_ONE = 16
"""Batches of which the tables become one when they are there: many small frames take more memory
than their rows.
"""

Reduce = Callable[[Tables], Tables]
"""What is kept of the tables of a batch.

It may add tables of its own, with the keys of their rows.  It runs in another process, so that only
what it gives, and what it writes, is left of it.
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """What is kept of some attempts, and why those that cannot be read cannot."""

    tables: Tables
    problems: Sequence[str]


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
    found = _Found()
    processes.shared_out(partial(_batch, reduce=reduce), parts, found.take)
    problems = found.problems
    if problems and len(problems) == len(tried):
        raise TableError(
            f"none of {len(tried)} runs can be read: {problems[0].rstrip('.')};"
            " restore the files from a copy, or remove the run folders and measure again"
        )
    return {name: in_order(frame) for name, frame in found.tables().items()}


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
        found = _in_one([*self._whole, *self._waiting])
        names = dict.fromkeys((*READ, *found))
        return {name: found[name] if name in found else empty(name) for name in names}


def _batch(attempts: Sequence[Run], reduce: Reduce) -> Batch:
    found = read_attempts(attempts)
    try:
        tables = _all(found)
    except TableError:
        found = conforming(attempts, found)
        tables = _all(found)
    problems = [one.problem for one in found if one.problem is not None]
    kept = reduce(tables)
    return Batch({n: f for n, f in kept.items() if len(f) or n not in TABLES}, problems)


def _all(found: Sequence[Attempt]) -> dict[str, pd.DataFrame]:
    owners = pd.DataFrame([dict(one.keys) for one in found])
    return {name: _joined(name, owners, [one.frames.get(name) for one in found]) for name in READ}


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
    return {name: _one_frame(name, some) for name, some in frames.items()}


def _one_frame(name: str, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    if not filled:
        return frames[0]
    rows = pd.concat(filled, ignore_index=True)
    return conform(name, rows) if name in TABLES else rows
