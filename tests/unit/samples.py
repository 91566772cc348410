"""The recorded samples as tables, each read once in a process; every caller has its own."""

from functools import cache
from pathlib import Path

import mqperf
from mqperf.study import stats, tables
from mqperf.study.tables import Tables


def read(folder: Path) -> Tables:
    """The tables of a folder that nobody changes."""
    return _own(_read(folder.resolve()))


def complete(folder: Path) -> Tables:
    """The same with what is computed of them, doubts and points among it."""
    return _own(_complete(folder.resolve()))


def results(folder: Path) -> mqperf.Results:
    """What ``mqperf.read`` gives of it."""
    return mqperf.Results(folder, complete(folder))


@cache
def _read(folder: Path) -> Tables:
    return tables.read(folder)


@cache
def _complete(folder: Path) -> Tables:
    return stats.complete(_read(folder))


def _own(shared: Tables) -> Tables:
    """Frames of the caller's own, which share their values until one is changed."""
    return {name: frame.copy(deep=False) for name, frame in shared.items()}
