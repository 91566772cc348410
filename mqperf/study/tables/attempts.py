"""Attempts as tables, each by itself: one that cannot be read stands beside those that can."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mqperf.base.errors import MqperfError
from mqperf.record import Facts, Run
from mqperf.study.tables.of_run import keys, of_run
from mqperf.study.tables.run_row import unreadable_row
from mqperf.study.tables.shape import conform

NAME = re.compile(
    r"(?P<system>.+?)-(?P<topology>[^-]+)-(?P<queues>[^-]+)-(?P<test_case>.+?)-t(?P<threads>\d{4,9})-p\d+"
    r"-(?:r(?P<repeat>\d{1,9})|s\d)-[0-9a-f]{8}"
)
"""A case's id, as far as one can tell from it what the case was."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was read of one attempt: its keys, and its tables without them."""

    keys: Mapping[str, Any]
    frames: Mapping[str, pd.DataFrame]
    problem: str | None = None


def read_attempts(attempts: Iterable[Run]) -> list[Attempt]:
    """Every attempt; of one that cannot be read its row in ``runs``, with the reason."""
    return [_read(run) for run in attempts]


def conforming(attempts: Iterable[Run], read: Iterable[Attempt]) -> list[Attempt]:
    """The same, where those with a value that the register forbids cannot be read either."""
    return [_checked(run, one) for run, one in zip(attempts, read, strict=True)]


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
    own = _told_by_name(run) if case is None else keys(run.id, case)
    frames = {"runs": pd.DataFrame([unreadable_row(facts, _relative(run, reason))])}
    return Attempt(own, frames, str(reason))


def _relative(run: Run, reason: MqperfError) -> str:
    """The reason with names as they are in the runs folder: where that lies is nobody's affair."""
    return str(reason).replace(f"{run.path.parent}/", "")


def _told_by_name(run: Run) -> dict[str, Any]:
    """What the name of the folder tells of a run whose facts cannot be read; never its point."""
    found = NAME.fullmatch(run.case_id)
    if found is None:
        return {"run": run.id}
    parts: dict[str, Any] = dict(found.groupdict())
    repeat = 1 if parts["repeat"] is None else int(parts["repeat"])
    return {"run": run.id, **parts, "threads": int(parts["threads"]), "repeat": repeat}
