"""Models of the lines of ``.counts`` files, which check each line by itself."""

from io import BufferedReader
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from mqperf.base import raw
from mqperf.base.errors import LoadError
from mqperf.onhost.record.counts_format import EARLY_S, FORMAT, LATE_S, RANGES_LIMIT, VERSION
from mqperf.record.facts import LATEST, LONGEST_S, WIDEST
from mqperf.record.load_file import opened
from mqperf.record.messages import Name

HEADER_LIMIT_BYTES = 65_536

SAME = 1e-6
"""Relative tolerance between two sums of the same latencies."""

Count = Annotated[int, Field(ge=0, le=WIDEST)]
Number = Annotated[int, Field(ge=0, le=WIDEST)]
Latency = Annotated[float, Field(ge=-LATEST, le=LATEST, allow_inf_nan=False)]
Sum = Annotated[float, Field(ge=-1e20, le=1e20, allow_inf_nan=False)]
Part = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Instant = Annotated[float, Field(ge=0, le=LATEST, allow_inf_nan=False)]
Times = Annotated[int, Field(ge=1, le=WIDEST)]


class Row(BaseModel, frozen=True, strict=True, extra="forbid", defer_build=True):
    """Base of the models of a line, or of a part of one."""


class CountedStream(Row):
    """A stream in the header: its columns, message count of the run, and the latest finish."""

    name: Name
    columns: tuple[Name, ...] = Field(min_length=1, max_length=2)
    count: Count
    last: Instant | None = None


class Header(Row):
    """The header line; seconds are counted from ``start``, the agreed start of the load."""

    format: Literal["mqperf-counts"]
    version: Literal[1]
    label: Name
    kind: Name
    test_case: Name
    start: Instant
    streams: tuple[CountedStream, ...] = Field(max_length=8)
    seconds: int = Field(ge=0, le=10_000_000)
    numbers: int = Field(ge=0, le=10_000_000)


class StartedIn(Row):
    """The messages started in a second, with their latencies if the stream has any."""

    count: int = Field(ge=1, le=WIDEST)
    sum_s: Sum | None = None
    min_s: Latency | None = None
    max_s: Latency | None = None
    negative: Count = 0
    beyond: Count = 0
    histogram: Annotated[str, Field(max_length=400_000)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.histogram is None:
            if self.model_fields_set - {"count"}:
                raise ValueError("latencies without their histogram")
            return self
        if self.sum_s is None or self.min_s is None or self.max_s is None:
            raise ValueError("a histogram without sum, least and largest latency")
        slack = SAME * (1 + abs(self.sum_s))
        if not self.min_s * self.count - slack <= self.sum_s <= self.max_s * self.count + slack:
            raise ValueError("the sum of latencies contradicts their number, least and largest")
        if self.min_s > self.max_s or (self.min_s < 0) != (self.negative > 0):
            raise ValueError("the least latency contradicts the others")
        if self.negative > self.count or self.beyond > self.count:
            raise ValueError("more messages in a part than in all")
        return self


class FinishedIn(Row):
    """The messages finished in a second; ``first_s`` and ``last_s`` count from its beginning.

    These two are missing in files of earlier versions.
    """

    count: int = Field(ge=1, le=WIDEST)
    sum_s: Sum
    max_s: Latency
    first_s: Part | None = None
    last_s: Part | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.sum_s > self.max_s * self.count + SAME * (1 + abs(self.sum_s)):
            raise ValueError("the sum of latencies is more than their number x the largest")
        if self.first_s is None or self.last_s is None:
            if self.first_s is not self.last_s:
                raise ValueError("a first message without a last one, or the reverse")
        elif self.first_s > self.last_s or (self.count == 1 and self.first_s < self.last_s):
            raise ValueError("the first and the last message contradict their number")
        return self


class Second(Row):
    """A stream in one second."""

    stream: Name
    second: int = Field(gt=-EARLY_S, lt=LONGEST_S + LATE_S)
    started: StartedIn | None = None
    finished: FinishedIn | None = None


class Seen(Row):
    """Sequence numbers of a sender seen in a stream; a sender may have several such lines."""

    stream: Name
    sender: Name
    ranges: tuple[tuple[Number, Number], ...] = Field((), max_length=RANGES_LIMIT)
    again: tuple[tuple[Number, Number, Times], ...] = Field((), max_length=RANGES_LIMIT)
    reordered: Count = 0


def read_header(path: Path) -> Header:
    """Read the header of a file; raises `LoadError` if it has no valid one."""
    with opened(path) as file:
        return header_of(path, file)


def header_of(path: Path, file: BufferedReader) -> Header:
    """Parse the header from the first line of an open file."""
    try:
        header = Header.model_validate_json(file.readline(HEADER_LIMIT_BYTES))
    except ValidationError as error:
        raise LoadError(
            f"{path} is no {FORMAT} file of version {VERSION}: {raw.first_problem(error)}."
        ) from None
    names = [stream.name for stream in header.streams]
    if len(set(names)) < len(names):
        raise LoadError(f"{path}:1: a stream is there twice")
    return header
