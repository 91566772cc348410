"""The ``.counts`` files: counts for each second, where single messages are too many to record.

A header line of JSON, a line for each second of each stream in which a message was started or
finished, then lines with the sequence numbers that were seen, by stream and sender.  Streams are
those of ``.messages`` files.  Latencies are in HdrHistograms of three digits, in the compressed
form of version 2, by the second in which their messages were started.

Redundant numbers in a file must agree, or it is damaged: a truncated file would give lower counts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mqperf.base import raw
from mqperf.base.errors import LoadError
from mqperf.onhost.record.numbers import Numbers, joined
from mqperf.record.counts_lines import Header, Second, Seen, header_of
from mqperf.record.counts_stream import Collected
from mqperf.record.load_file import opened
from mqperf.record.streams.counted import Counted

Row = TypeVar("Row", bound=BaseModel)

LINE_LIMIT_BYTES = 16 * raw.MIB


@dataclass(frozen=True, slots=True)
class CountsFile:
    """The content of a file: its streams, and the sequence numbers by stream and sender."""

    header: Header
    streams: Mapping[str, Counted]
    numbers: Mapping[str, Mapping[str, Numbers]]


def read_counts(path: Path) -> CountsFile:
    """Read a file; raises `LoadError` if it is cut short, or contradicts itself."""
    with opened(path) as file:
        lines = _Lines(file)
        header = header_of(path, file)
        try:
            return _content(header, lines)
        except ValidationError as error:
            raise LoadError(f"{path}:{lines.number}: {raw.first_problem(error)}") from None
        except ValueError as error:
            raise LoadError(f"{path}:{lines.number}: {error}") from None


class _Lines:
    """The lines after the header; ``number`` is that of the current line, for errors."""

    def __init__(self, file: BufferedReader) -> None:
        self.file = file
        self.number = 1

    def take(self, model: type[Row], count: int) -> Iterator[Row]:
        """Parse the next ``count`` lines by the model."""
        for _ in range(count):
            self.number += 1
            line = self.file.readline(LINE_LIMIT_BYTES)
            if not line.endswith(b"\n"):
                raise ValueError("the file ends before its time, or the line is too long")
            yield model.model_validate_json(line)

    def end(self) -> None:
        """Check that no line follows."""
        self.number += 1
        if self.file.read(1):
            raise ValueError("there are more lines than the header says")
        self.number = 1


def _content(header: Header, lines: _Lines) -> CountsFile:
    streams = {stream.name: Collected(stream) for stream in header.streams}
    seen: dict[tuple[str, str], list[Seen]] = defaultdict(list)
    for row in lines.take(Second, header.seconds):
        _stream(streams, row.stream).add(row)
    for line in lines.take(Seen, header.numbers):
        seen[_stream(streams, line.stream).name, line.sender].append(line)
    lines.end()
    counted = {name: collected.stream(header.start) for name, collected in streams.items()}
    return CountsFile(header, counted, _numbers(counted, seen))


def _numbers(
    streams: Mapping[str, Counted], seen: Mapping[tuple[str, str], Sequence[Seen]]
) -> Mapping[str, Mapping[str, Numbers]]:
    """Join the sequence numbers by stream and sender; every message of a stream must have one."""
    by_stream: dict[str, dict[str, Numbers]] = {name: {} for name in streams}
    for (name, sender), rows in seen.items():
        by_stream[name][sender] = joined([(r.ranges, r.again, r.reordered) for r in rows])
    for name, senders in by_stream.items():
        numbered = sum(numbers.count for numbers in senders.values())
        if numbered != streams[name].count:
            raise ValueError(f"{name}: {streams[name].count} messages, {numbered} numbers")
        if name == "sent" and any(len(numbers.again) for numbers in senders.values()):
            raise ValueError("sent: a number was given to two messages")
    return by_stream


def _stream(streams: Mapping[str, Collected], name: str) -> Collected:
    if name not in streams:
        raise ValueError(f"the header knows no stream {name}")
    return streams[name]
