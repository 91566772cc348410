"""The instants of every message of a run, once they are known to be those of its processes."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from mqperf.errors import LoadError, RecordError
from mqperf.record import Whole, messages
from mqperf.record.messages import Header
from mqperf.test_cases import TEST_CASES

Streams = Mapping[str, Mapping[str, np.ndarray]]
"""label of a process -> name of a stream -> array of (count, columns) epoch seconds."""

ONE, TWO = ("started",), ("started", "finished")
SERVER = {"received": TWO}
CLIENT = {"sent": ONE, "error": TWO}
CALLER = {**CLIENT, "round_trip": TWO}
"""The columns of each stream of a process; the order of streams does not matter."""

EARLY_S, LATE_S = 3_600.0, 86_400.0
"""No message was started so long before the load, or finished so long after it."""


def read_streams(run: Whole) -> Streams:
    """The messages of every process of a whole run.

    Raises ``LoadError`` or ``RecordError`` for a file that is missing or damaged, belongs to
    another process or run, or holds an instant far from the run's own.
    """
    load = run.run.path / "load"
    labels = [process.label for process in run.facts.processes]
    unknown = sorted({file.stem for file in load.glob("*.messages")} - set(labels))
    if unknown:
        file = load / f"{unknown[0]}.messages"
        raise RecordError(f"{file}: run.json knows no process {unknown[0]}")
    return {label: _streams(run, load / f"{label}.messages") for label in labels}


def together(streams: Streams, name: str) -> np.ndarray:
    """All messages of one stream over all processes; no rows when no process has the stream."""
    parts = [named[name] for named in streams.values() if name in named]
    return np.concatenate(parts) if parts else np.empty((0, 2))


def finished(streams: Streams, test_case: str) -> np.ndarray:
    """Started and finished of every message that counts as finished in the test case."""
    return together(streams, TEST_CASES[test_case].finish.stream)


def _streams(run: Whole, file: Path) -> Mapping[str, np.ndarray]:
    header, streams = messages.read_all(file)
    for problem in _foreign(run, file.stem, header):
        raise LoadError(f"{file}: not of this run: {problem}")
    begin, end = run.load[0] - EARLY_S, run.load[1] + run.case.timeout_s + LATE_S
    for name, instants in streams.items():
        if len(instants) and not (begin < instants.min() and instants.max() < end):
            raise LoadError(f"{file}: stream {name} has an instant far from those of the run")
    return streams


def _foreign(run: Whole, label: str, header: Header) -> Iterator[str]:
    """In what a file differs from what this process of this run writes."""
    kind = next(one.kind for one in run.facts.processes if one.label == label)
    told = (header.label, header.kind, header.test_case)
    asked = (label, kind, run.case.test_case)
    if told != asked:
        yield f"it is of {' '.join(told)}, not of {' '.join(asked)}"
    if kind == "client" and header.start is not None and header.start != run.load[0]:
        yield f"its load started at {header.start}, that of the run at {run.load[0]}"
    found = {stream.name: stream.columns for stream in header.streams}
    if found != _expected(kind, run.case.test_case) or len(found) != len(header.streams):
        yield f"its streams are {', '.join(stream.name for stream in header.streams)}"


def _expected(kind: str, test_case: str) -> Mapping[str, tuple[str, ...]]:
    if kind == "server":
        return SERVER
    return CALLER if TEST_CASES[test_case].replies else CLIENT
