"""The messages of a run, once they are known to be those of its processes.

Processes record the instants of every message, or counts of each second; all of a run alike.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mqperf.base.errors import LoadError, RecordError
from mqperf.onhost.record.counts_format import EARLY_S, LATE_S
from mqperf.onhost.record.numbers import Numbers
from mqperf.plan.columns import REFUSALS
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Whole, counts, messages
from mqperf.record.counts_lines import Header
from mqperf.record.folder import FACTS
from mqperf.record.streams.counted import Counted, combined
from mqperf.record.streams.stream import ByProcess, Instants, Stream
from mqperf.record.totals import COUNTS, ENDS, INSTANTS
from mqperf.study.load import generator_of
from mqperf.study.tables import clocks

ONE, TWO = ("started",), ("started", "finished")
SERVER = {"received": TWO}
CLIENT = {"sent": ONE, "error": TWO}
CALLER = {**CLIENT, "round_trip": TWO}
"""The columns of each stream of a process; the order of streams does not matter."""

FURTHER = {
    "client": dict.fromkeys(("handover", "service", "confirmed", *REFUSALS), TWO),
    "server": dict.fromkeys(clocks.OF_TWO_CLOCKS - {clocks.RECEIVED}, TWO),
}
"""Streams that a process may have besides, by its kind: when messages were handed over that were
due; when the broker confirmed them; when it refused them, and how; when those were received, or
answered, that were handed over; and which of the received are dead letters, urgent ones, and such
as are not."""


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """All messages of a run: of instants, or of counts with the sequence numbers.

    ``numbers`` has for each process the numbers by stream and sender; it is empty for instants.
    ``processes`` are by the clock of the controller, ``recorded`` by those of their own hosts.
    One-way latencies are right to ``uncertainty_s``.
    """

    processes: ByProcess
    recorded: ByProcess
    numbers: Sequence[Mapping[str, Mapping[str, Numbers]]] = ()
    uncertainty_s: float = 0.0
    joined: dict[str, Stream] = field(default_factory=dict, repr=False)

    @property
    def record(self) -> str:
        """Which kind of record it is."""
        return COUNTS if self.numbers else INSTANTS

    def together(self, name: str) -> Stream:
        """One stream over all processes, without messages when none has it."""
        if name not in self.joined:
            self.joined[name] = _together(self.processes, name)
        return self.joined[name]

    @property
    def received(self) -> int | None:
        """Messages that servers received; None where there is no server."""
        has_servers = any("received" in streams for streams in self.processes.values())
        return self.together("received").count if has_servers else None

    def has(self, name: str) -> bool:
        """Whether any process recorded such a stream."""
        return any(name in named for named in self.processes.values())

    def finished(self, test_case: str) -> Stream:
        """The messages that count as finished in the test case."""
        return self.together(TEST_CASES[test_case].finish.stream)

    def instants(self, name: str) -> np.ndarray:
        """Started and finished of all messages of a stream, which must be of instants."""
        stream = self.together(name)
        if not isinstance(stream, Instants):
            raise TypeError(f"{name} is recorded as counts: it has no instants")
        return stream.values

    def seen(self, name: str) -> Iterator[tuple[str, Numbers]]:
        """Sender and sequence numbers of a stream, of every process that saw some."""
        for of_process in self.numbers:
            yield from of_process.get(name, {}).items()


def read_streams(run: Whole) -> Streams:
    """The messages of every process of a whole run.

    Raises ``LoadError`` or ``RecordError`` for a file that is missing or damaged, belongs to
    another process or run, or holds an instant far from the run's own; and for a run of which some
    processes recorded instants, and others counts.
    """
    _check_processes(run)
    load = run.folder
    labels = [process.label for process in run.facts.processes]
    kinds = {kind: {file.stem for file in load.glob(f"*{end}")} for kind, end in ENDS.items()}
    for kind, stems in kinds.items():
        if unknown := sorted(stems - set(labels)):
            file = load / f"{unknown[0]}{ENDS[kind]}"
            raise RecordError(f"{file}: run.json knows no process {unknown[0]}")
    if all(kinds.values()):
        raise RecordError(
            f"{load}: holds both {' and '.join(ENDS.values())} files: one record cannot account for"
            " the messages of the other"
        )
    if kinds[COUNTS]:
        return _counted(run, {label: load / f"{label}{ENDS[COUNTS]}" for label in labels})
    return _exact(run, {label: load / f"{label}{ENDS[INSTANTS]}" for label in labels})


def _check_processes(run: Whole) -> None:
    """Raise ``RecordError`` unless there are as many processes as the load of the case has."""
    asked = Counter(member.kind for member in generator_of(run).members(run.case))
    recorded = Counter(process.kind for process in run.facts.processes)
    for kind in ("client", "server"):
        if recorded[kind] != asked[kind]:
            raise RecordError(
                f"{run.run.path / FACTS}: processes: {recorded[kind]} of kind {kind}, the case has"
                f" {asked[kind]}"
            )


def _together(processes: ByProcess, name: str) -> Stream:
    parts = [named[name] for named in processes.values() if name in named]
    counted = [part for part in parts if isinstance(part, Counted)]
    if counted:
        return combined(counted)
    every = [part.values for part in parts if isinstance(part, Instants)]
    return Instants(np.concatenate(every) if every else np.empty((0, 2)))


def _exact(run: Whole, files: Mapping[str, Path]) -> Streams:
    recorded = {label: _instants(run, file) for label, file in files.items()}
    processes, uncertainty_s = clocks.instants(run, recorded)
    begin, end = run.load[0] - EARLY_S, run.load[1] + run.case.timeout_s + LATE_S
    for label, streams in processes.items():
        for name, stream in streams.items():
            instants = stream.values
            if len(instants) and not (begin < instants.min() and instants.max() < end):
                raise LoadError(
                    f"{files[label]}: stream {name} has an instant far from those of the run"
                )
    return Streams(processes, recorded, uncertainty_s=uncertainty_s)


def _instants(run: Whole, file: Path) -> Mapping[str, Instants]:
    header, streams = messages.read_all(file)
    columns = {stream.name: stream.columns for stream in header.streams}
    _check(run, file, header, columns if len(columns) == len(header.streams) else {})
    for part, whole in parts_of(streams):
        if (parts := len(streams[part])) != (wholes := len(streams[whole])):
            raise LoadError(f"{file}: {parts} messages in {part}, {wholes} in {whole}")
    return {name: Instants(instants) for name, instants in streams.items()}


def parts_of(streams: Collection[str]) -> Iterator[tuple[str, str]]:
    """The streams of a process that hold a part of the latency, and those that hold the whole.

    Of instants, the same row of both is of the same message.
    """
    finish = "round_trip" if "round_trip" in streams else "received"
    for part, whole in (("handover", "sent"), ("service", finish)):
        if part in streams:
            yield part, whole


def _counted(run: Whole, files: Mapping[str, Path]) -> Streams:
    read = {label: counts.read_counts(file) for label, file in files.items()}
    senders: set[str] = set()
    for label, record in read.items():
        _check(run, files[label], record.header, {s.name: s.columns for s in record.header.streams})
        sent = record.numbers.get("sent", {})
        if both := sorted(senders & set(sent)):
            raise LoadError(f"{files[label]}: another process, too, sent messages as {both[0]}")
        senders |= set(sent)
    recorded = {label: record.streams for label, record in read.items()}
    streams, uncertainty_s = clocks.counted(run, read)
    end = run.load[1] + run.case.timeout_s + LATE_S
    for label, named in streams.items():
        if any(stream.end > end for stream in named.values()):
            raise LoadError(f"{files[label]}: a second is far from those of the run")
    numbers = [record.numbers for record in read.values()]
    return Streams(streams, recorded, numbers, uncertainty_s)


def _check(
    run: Whole, file: Path, header: messages.Header | Header, streams: Mapping[str, tuple[str, ...]]
) -> None:
    for problem in _foreign(run, file.stem, header, streams):
        raise LoadError(f"{file}: not of this run: {problem}")


def _foreign(
    run: Whole, label: str, header: messages.Header | Header, streams: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """In what a file differs from what this process of this run writes."""
    kind = next(process.kind for process in run.facts.processes if process.label == label)
    stated = (header.label, header.kind, header.test_case)
    asked = (label, kind, run.case.test_case)
    if stated != asked:
        yield f"it is of {' '.join(stated)}, not of {' '.join(asked)}"
    counts_from_it = kind == "client" or isinstance(header, Header)
    begin = run.began(label)
    if counts_from_it and header.start is not None and header.start != begin:
        yield f"its load started at {header.start}, that of the run at {begin} by its host's clock"
    expected = _expected(kind, run.case.test_case)
    if not expected.items() <= streams.items() <= {**expected, **FURTHER[kind]}.items():
        yield f"its streams are {', '.join(stream.name for stream in header.streams)}"


def _expected(kind: str, test_case: str) -> Mapping[str, tuple[str, ...]]:
    if kind == "server":
        return SERVER
    return CALLER if TEST_CASES[test_case].replies else CLIENT
