"""Frames that begin with their length in four bytes and their kind in one."""

import struct
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mqperf_activemq.onhost.wire import Arrived, Wire
from mqperf_numbered.onhost.record import Numbers

HEAD = struct.Struct(">ib")


class Run(NamedTuple):
    """Frames of one kind and length that follow each other in a buffer.

    The first is at ``at``, the next one ``unit`` bytes later.
    """

    kind: int
    at: int
    unit: int
    rows: int

    def column(self, buffer: bytearray, place: int, kind: str) -> Numbers:
        """Return the integers of a type at an offset in each frame."""
        view = np.ndarray(self.rows, np.dtype(kind), buffer, self.at + place, (self.unit,))
        integers: Numbers = view.astype(np.int64)
        return integers

    def bytes_at(self, buffer: bytearray, place: int, size: int) -> NDArray[np.uint8]:
        """Return the bytes at an offset in each frame, as rows."""
        return np.ndarray((self.rows, size), np.uint8, buffer, self.at + place, (self.unit, 1))

    def split(self, count: int) -> tuple["Run", "Run"]:
        """Return the first frames, and the rest."""
        rest_at = self.at + count * self.unit
        return self._replace(rows=count), self._replace(at=rest_at, rows=self.rows - count)

    def alike(self, buffer: bytearray, place: int, size: int) -> int:
        """Return how many frames, from the first on, have the same bytes at an offset."""
        rows = self.bytes_at(buffer, place, size)
        same = (rows == rows[0]).all(axis=1)
        return self.rows if same.all() else int(same.argmin())

    @property
    def ends(self) -> range:
        """The end of each frame in the buffer."""
        first = self.at + self.unit
        return range(first, first + self.rows * self.unit, self.unit)


def run_at(buffer: bytearray, at: int, have: int) -> Run | None:
    """Return the frames that begin at ``at``; None before one is complete."""
    if have - at < HEAD.size:
        return None
    length, kind = HEAD.unpack_from(buffer, at)
    unit = length + 4
    run = Run(kind, at, unit, (have - at) // unit)
    return run.split(run.alike(buffer, 0, HEAD.size))[0] if run.rows else None


class Framed(Wire):
    """A connection with such frames; ``message_kind`` is the kind of messages."""

    message_kind: int

    def answer(self, kinds: Collection[int]) -> tuple[int, bytes]:
        """Await a frame of these kinds, and drop those before it; return its kind and bytes."""
        while True:
            for run in self.runs():
                if run.kind in kinds:
                    content = bytes(self.view[run.at : run.at + run.unit])
                    self.understood = run.at + run.unit
                    self.forget()
                    return run.kind, content
            self.forget()
            self.fill()

    def runs(self) -> Iterator[Run]:
        """Yield all complete frames that have arrived."""
        while (run := run_at(self.buffer, self.understood, self.have)) is not None:
            self.understood = run.ends[-1]
            yield run

    def arrived(self) -> Arrived:
        """Return the messages that have arrived."""
        stamps, ends, acks = list[bytes](), list[int](), list[bytes]()
        for run in self.runs():
            self.attend(run)
            rest = run
            while rest.kind == self.message_kind and rest.rows:
                same, content, ack = self.messages(rest)
                _, rest = rest.split(same.rows)
                stamps.append(content)
                ends += same.ends
                acks.append(ack)
        return self.read(stamps, ends, acks)

    def messages(self, run: Run) -> tuple[Run, bytes, bytes]:
        """Return the first messages of a run with one layout, their stamps and acknowledgements."""
        raise NotImplementedError

    def attend(self, run: Run) -> None:
        """Raise ``Lost`` for frames by which the broker ends the connection or reports an error."""
        raise NotImplementedError
