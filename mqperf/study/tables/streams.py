"""Read the messages of a run, and check that its own processes recorded them.

Processes record the instants of every message, or counts per second; all processes of a run alike.
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
"""Required streams of each kind of process -> their columns; the order does not matter."""

OPTIONAL_STREAMS = {
    "client": dict.fromkeys(("handover", "service", "confirmed", *REFUSALS), TWO),
    "server": dict.fromkeys(clocks.OF_TWO_CLOCKS - {clocks.RECEIVED}, TWO),
}
"""Optional streams by kind of process.  Clients: handover (from due to handed over), service (from
handed over to answered), the broker's confirms and refusals.  Servers: service (from handed over to
received), and those of the received messages that are dead letters, urgent or usual."""


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """All messages of a run: instants, or counts with sequence numbers.

    ``numbers`` has the sequence numbers of each process by stream and sender; empty for instants.
    ``processes`` use the clock of the controller, ``recorded`` those of the processes' own hosts.
    One-way latencies are accurate to ``uncertainty_s``.
    """

    processes: ByProcess
    recorded: ByProcess
    numbers: Sequence[Mapping[str, Mapping[str, Numbers]]] = ()
    uncertainty_s: float = 0.0
    merged: dict[str, Stream] = field(default_factory=dict, repr=False)

    @property
    def record(self) -> str:
        """``COUNTS`` or ``INSTANTS``."""
        return COUNTS if self.numbers else INSTANTS

    def together(self, name: str) -> Stream:
        """The stream merged over all processes; without messages when no process has it."""
        if name not in self.merged:
            self.merged[name] = _merged(self.processes, name)
        return self.merged[name]

    @property
    def received(self) -> int | None:
        """Messages that servers received; None where there is no server."""
        has_servers = any("received" in streams for streams in self.processes.values())
        return self.together("received").count if has_servers else None

    def has(self, name: str) -> bool:
        """Whether any process recorded such a stream."""
        return any(name in streams for streams in self.processes.values())

    def finished(self, test_case: str) -> Stream:
        """The messages that count as finished in the test case."""
        return self.together(TEST_CASES[test_case].finish.stream)

    def instants(self, name: str) -> np.ndarray:
        """Start and finish of every message of a stream; raises ``TypeError`` for counts."""
        stream = self.together(name)
        if not isinstance(stream, Instants):
            raise TypeError(f"{name} is recorded as counts: it has no instants")
        return stream.values

    def sequence_numbers(self, name: str) -> Iterator[tuple[str, Numbers]]:
        """Sender and sequence numbers of a stream, from every process that recorded some."""
        for by_stream in self.numbers:
            yield from by_stream.get(name, {}).items()


def read_streams(run: Whole) -> Streams:
    """Read the messages of every process of a whole run.

    Raises ``LoadError`` or ``RecordError`` for a file that is missing or damaged, belongs to
    another process or run, or holds an instant far from the run's own; and for a run in which some
    processes recorded instants and others counts.
    """
    _check_processes(run)
    load = run.folder
    labels = [process.label for process in run.facts.processes]
    stems = {record: {file.stem for file in load.glob(f"*{end}")} for record, end in ENDS.items()}
    for record, recorded_labels in stems.items():
        if unknown := sorted(recorded_labels - set(labels)):
            file = load / f"{unknown[0]}{ENDS[record]}"
            raise RecordError(f"{file}: run.json knows no process {unknown[0]}")
    if all(stems.values()):
        raise RecordError(
            f"{load}: holds both {' and '.join(ENDS.values())} files: one record cannot account for"
            " the messages of the other"
        )
    if stems[COUNTS]:
        return _read_counts(run, {label: load / f"{label}{ENDS[COUNTS]}" for label in labels})
    return _read_instants(run, {label: load / f"{label}{ENDS[INSTANTS]}" for label in labels})


def _check_processes(run: Whole) -> None:
    """Raise ``RecordError`` unless there are as many processes as the load of the case has."""
    expected = Counter(member.kind for member in generator_of(run).members(run.case))
    recorded = Counter(process.kind for process in run.facts.processes)
    for kind in ("client", "server"):
        if recorded[kind] != expected[kind]:
            raise RecordError(
                f"{run.run.path / FACTS}: processes: {recorded[kind]} of kind {kind}, the case has"
                f" {expected[kind]}"
            )


def _merged(processes: ByProcess, name: str) -> Stream:
    found = [streams[name] for streams in processes.values() if name in streams]
    counted = [stream for stream in found if isinstance(stream, Counted)]
    if counted:
        return combined(counted)
    arrays = [stream.values for stream in found if isinstance(stream, Instants)]
    return Instants(np.concatenate(arrays) if arrays else np.empty((0, 2)))


def _read_instants(run: Whole, files: Mapping[str, Path]) -> Streams:
    recorded = {label: _instants_of_process(run, file) for label, file in files.items()}
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


def _instants_of_process(run: Whole, file: Path) -> Mapping[str, Instants]:
    header, streams = messages.read_all(file)
    columns = {stream.name: stream.columns for stream in header.streams}
    _check_header(run, file, header, columns if len(columns) == len(header.streams) else {})
    for part, whole in parts_of(streams):
        if (in_part := len(streams[part])) != (in_whole := len(streams[whole])):
            raise LoadError(f"{file}: {in_part} messages in {part}, {in_whole} in {whole}")
    return {name: Instants(instants) for name, instants in streams.items()}


def parts_of(streams: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of streams of a process: one with a part of the latency, one with the whole.

    In records of instants, the same row of both streams belongs to the same message.
    """
    finish = "round_trip" if "round_trip" in streams else "received"
    for part, whole in (("handover", "sent"), ("service", finish)):
        if part in streams:
            yield part, whole


def _read_counts(run: Whole, files: Mapping[str, Path]) -> Streams:
    records = {label: counts.read_counts(file) for label, file in files.items()}
    senders: set[str] = set()
    for label, record in records.items():
        columns = {stream.name: stream.columns for stream in record.header.streams}
        _check_header(run, files[label], record.header, columns)
        sent = record.numbers.get("sent", {})
        if shared := sorted(senders & set(sent)):
            raise LoadError(f"{files[label]}: another process, too, sent messages as {shared[0]}")
        senders |= set(sent)
    recorded = {label: record.streams for label, record in records.items()}
    processes, uncertainty_s = clocks.counted(run, records)
    end = run.load[1] + run.case.timeout_s + LATE_S
    for label, streams in processes.items():
        if any(stream.end > end for stream in streams.values()):
            raise LoadError(f"{files[label]}: a second is far from those of the run")
    numbers = [record.numbers for record in records.values()]
    return Streams(processes, recorded, numbers, uncertainty_s)


def _check_header(
    run: Whole, file: Path, header: messages.Header | Header, streams: Mapping[str, tuple[str, ...]]
) -> None:
    for problem in _header_mismatches(run, file.stem, header, streams):
        raise LoadError(f"{file}: not of this run: {problem}")


def _header_mismatches(
    run: Whole, label: str, header: messages.Header | Header, streams: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Yield the differences between a file's header and what this process of this run writes."""
    kind = next(process.kind for process in run.facts.processes if process.label == label)
    identity = (header.label, header.kind, header.test_case)
    expected_identity = (label, kind, run.case.test_case)
    if identity != expected_identity:
        yield f"it is of {' '.join(identity)}, not of {' '.join(expected_identity)}"
    starts_with_load = kind == "client" or isinstance(header, Header)
    begin = run.began(label)
    if starts_with_load and header.start is not None and header.start != begin:
        yield f"its load started at {header.start}, that of the run at {begin} by its host's clock"
    expected = _required_streams(kind, run.case.test_case)
    if not expected.items() <= streams.items() <= {**expected, **OPTIONAL_STREAMS[kind]}.items():
        yield f"its streams are {', '.join(stream.name for stream in header.streams)}"


def _required_streams(kind: str, test_case: str) -> Mapping[str, tuple[str, ...]]:
    if kind == "server":
        return SERVER
    return CALLER if TEST_CASES[test_case].replies else CLIENT
