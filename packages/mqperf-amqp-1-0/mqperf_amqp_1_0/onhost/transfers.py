"""Parses transfers as arrays: those of a link have one form, which is learnt from the first.

A buffer of consecutive frames that are whole messages of a known form is one array with a row for
each.  Anything else, such as a message of several frames, is parsed frame by frame.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import Described
from mqperf_amqp_1_0.onhost.connection import Connection, performative
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.broker import Refused


@dataclass(frozen=True, slots=True)
class Batch:
    """Deliveries on a link in order: the id and the stamp of each; whether all are settled.

    Ids are those of the wire, from 0 to 2**32 - 1.
    """

    handle: int
    ids: NDArray[np.int64]
    stamp: stamps.Stamps
    settled: bool


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a frame: its bytes except for id, tag, and the body from its stamp on."""

    frame: stamps.Bytes
    handle: int
    settled: bool
    same: tuple[slice, ...]
    id_at: slice
    stamp_at: int

    def fitting(self, rows: stamps.Bytes) -> int:
        """Return how many rows, from the first on, have this form."""
        count = len(rows)
        for span in self.same:
            equal = rows[:count, span] == self.frame[span]
            if not equal.all():
                count = int(equal.all(axis=1).argmin())
        return count

    def batch(self, rows: stamps.Bytes) -> Batch:
        """Parse rows of this form."""
        width = self.id_at.stop - self.id_at.start
        ids = np.zeros((len(rows), 4), np.uint8)
        ids[:, 4 - width :] = rows[:, self.id_at]
        stamp = stamps.read(rows[:, self.stamp_at : self.stamp_at + stamps.SIZE])
        return Batch(self.handle, ids.view(">u4").ravel().astype(np.int64), stamp, self.settled)


@dataclass(slots=True)
class _Partial:
    """A message whose frames have come in part."""

    ids: int
    settled: bool
    payload: list[bytes]


class Transfers:
    """Parses what comes for receivers: passes deliveries to ``take``, the rest to ``other``."""

    def __init__(
        self,
        connection: Connection,
        take: Callable[[Batch], None],
        other: Callable[[Described], None],
    ) -> None:
        self.connection, self.take, self.other = connection, take, other
        self.forms: dict[bytes, Form] = {}
        self.partial: dict[int, _Partial] = {}

    def read(self) -> None:
        """Parse all frames that have come whole."""
        connection, at = self.connection, 0
        while True:
            at = self._rows(at)
            if (frame := connection.frame(at)) is None:
                break
            _, body, end = frame
            if body:
                try:
                    self._read_frame(at, end, *performative(body))
                except ValueError as error:
                    raise Refused(f"a message cannot be read: {error}") from None
            at = end
        connection.consumed(at)

    def _rows(self, at: int) -> int:
        """Parse frames of known forms; return their end."""
        connection = self.connection
        while (form := self.forms.get(codec.beginning(connection.buffer, at))) is not None:
            length = len(form.frame)
            count = (connection.have - at) // length
            content = np.frombuffer(connection.buffer, np.uint8, count * length, at)
            rows = content.reshape(count, length)
            if not (fitting := form.fitting(rows)):
                break
            connection.incoming += fitting
            self.take(form.batch(rows[:fitting]))
            at += fitting * length
        return at

    def _read_frame(self, at: int, end: int, described: Described, payload: bytes) -> None:
        """Handle a frame."""
        if described.code != codec.TRANSFER:
            self.other(described)
            return
        self.connection.incoming += 1
        handle, more, aborted = described.field(0), described.field(5), described.field(9)
        partial = self.partial.pop(handle, None)
        if aborted:
            return
        if partial is None:
            partial = _Partial(described.field(1), bool(described.field(4)), [payload])
            if not more:
                self._learn(at, end)
        else:
            partial.payload.append(payload)
            partial.settled |= bool(described.field(4))
        if more:
            self.partial[handle] = partial
            return
        stamp = stamp_of(b"".join(partial.payload))
        self.take(Batch(handle, np.array([partial.ids]), stamp, partial.settled))

    def _learn(self, at: int, end: int) -> None:
        """Add the form of a message of one frame."""
        frame = bytes(self.connection.buffer[at:end])
        if (form := form_of(frame)) is not None:
            self.forms[codec.beginning(frame, 0)] = form


def form_of(frame: bytes) -> Form | None:
    """Return the form of a frame that is a whole message; None if it has no stamp."""
    body_at = 4 * frame[4]
    _, id_at = codec.value(frame, codec.fields_at(frame, body_at))
    _, tag_at = codec.value(frame, id_at)
    _, after_tag = codec.value(frame, tag_at)
    transfer, payload = codec.performative(frame[body_at:])
    if (start := _stamp_at(payload)) is None:
        return None
    stamp_at = len(frame) - len(payload) + start
    width = tag_at - id_at - 1
    tag = transfer.field(2)
    same = (
        slice(0, id_at + 1),
        slice(tag_at, after_tag - len(tag or b"")),
        slice(after_tag, stamp_at),
    )
    return Form(
        np.frombuffer(frame, np.uint8),
        transfer.field(0),
        bool(transfer.field(4)),
        same,
        slice(tag_at - width, tag_at),
        stamp_at,
    )


def _stamp_at(payload: bytes) -> int | None:
    """Return the offset of the stamp in a message: at the beginning of its body, if it is bytes."""
    at = 0
    while at < len(payload):
        section, at = codec.value(payload, at)
        if isinstance(section, Described) and section.code in {codec.DATA, codec.VALUE}:
            body = section.value
            has_room = isinstance(body, bytes) and len(body) >= stamps.SIZE
            return at - len(body) if has_room else None
    return None


def stamp_of(payload: bytes) -> stamps.Stamps:
    """Return the stamp of a message; all zero, for no run, if it has none."""
    at = _stamp_at(payload)
    content = bytes(stamps.SIZE) if at is None else payload[at : at + stamps.SIZE]
    return np.frombuffer(content, stamps.STAMP)
