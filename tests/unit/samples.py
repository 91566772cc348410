"""The tables of the recorded samples; each is read once, and each caller gets a copy.

Parallel test processes share them in a temporary folder.
"""

import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd

import mqperf
from mqperf.study import stats, tables
from mqperf.study.stats import checks
from mqperf.study.tables import Tables

shared: Path | None = None
"""The folder of tables that parallel processes share; None for a single process."""


def read(folder: Path) -> Tables:
    """The tables of a folder that nobody changes."""
    return _own(_read(folder.resolve()))


def complete(folder: Path) -> Tables:
    """The tables of a folder with all computed tables, doubts and points included."""
    return _own(_complete(folder.resolve()))


def results(folder: Path) -> mqperf.Results:
    """What ``mqperf.read`` returns for a folder."""
    return mqperf.Results(folder, complete(folder))


def doubted(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of a folder that a test has made, with only its doubts computed.

    Computing all tables takes three times as long.
    """
    frames = tables.read(folder)
    return {**frames, "doubts": checks.doubts(frames)}


@cache
def _read(folder: Path) -> Tables:
    return once(_name("read", folder), lambda: tables.read(folder))


@cache
def _complete(folder: Path) -> Tables:
    return once(_name("complete", folder), lambda: stats.complete(_read(folder)))


def _name(kind: str, folder: Path) -> str:
    return "-".join([kind, *folder.parts[-3:]])


def once(name: str, make: Callable[[], Tables]) -> Tables:
    """The tables that another process has stored, or else made now and stored for the others."""
    if shared is None:
        return make()
    file = shared / name
    if not file.exists():
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_bytes(pickle.dumps(dict(make())))
        draft.replace(file)
    frames: Tables = pickle.loads(file.read_bytes())  # noqa: S301 (written above)
    return frames


def _own(shared: Tables) -> Tables:
    """Copies of the frames, which share their values until one is changed."""
    return {name: frame.copy(deep=False) for name, frame in shared.items()}
