"""Parses dispositions as arrays: many brokers send one for each message, all of one form.

The form is learnt from the first one; a buffer of consecutive frames of a form is one array with a
row for each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import Described
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_numbered.onhost import stamps

FIRST, LAST = 1, 2
"""Indices of the fields of a disposition with its first and last delivery id."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Ranges of deliveries, from each first to each last id; ids are those of the wire, 32 bits."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


NONE = Settled(np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a frame: its bytes except for the values of its two ids.

    So all frames of a form have the same state: ``one`` is the first of them.
    """

    one: Described
    frame: bytes
    same: tuple[slice, ...]
    first_at: slice
    last_at: slice | None

    def settled(self, connection: Connection, at: int) -> Settled:
        """Return the ids of the whole consecutive frames of this form from that offset on."""
        length = len(self.frame)
        count = (connection.have - at) // length
        if count == 0:
            return NONE
        following = codec.beginning(connection.buffer, at + length)
        if count == 1 or following != codec.beginning(self.frame, 0):
            return self._settled(bytes(connection.buffer[at : at + length]))
        content = np.frombuffer(connection.buffer, np.uint8, count * length, at)
        rows, form = content.reshape(count, length), np.frombuffer(self.frame, np.uint8)
        fitting = count
        for span in self.same:
            equal = rows[:fitting, span] == form[span]
            if not equal.all():
                fitting = int(equal.all(axis=1).argmin())
        first, last_at = _ids(rows[:fitting, self.first_at]), self.last_at
        return Settled(first, first if last_at is None else _ids(rows[:fitting, last_at]))

    def _settled(self, frame: bytes) -> Settled:
        """Return the ids of a single frame, in a tenth of the time; ``NONE`` if it does not fit."""
        if any(frame[span] != self.frame[span] for span in self.same):
            return NONE
        first = int.from_bytes(frame[self.first_at])
        last = first if self.last_at is None else int.from_bytes(frame[self.last_at])
        return Settled(np.array([first]), np.array([last]))


def form_of(frame: bytes, disposition: Described) -> Form | None:
    """Return the form of the frame of a disposition; None if an id has no bytes of its own."""
    ends = [codec.fields_at(frame, 4 * frame[4])]
    for _ in range(LAST + 1):
        if len(ends) <= len(disposition.value):
            ends.append(codec.value(frame, ends[-1])[1])
    first_at = slice(ends[FIRST] + 1, ends[LAST])
    last_at = None
    if disposition.field(LAST) is not None:
        last_at = slice(ends[LAST] + 1, ends[LAST + 1])
    if any(span is not None and span.stop == span.start for span in (first_at, last_at)):
        return None
    after = first_at if last_at is None else last_at
    between = () if last_at is None else (slice(first_at.stop, last_at.start),)
    same = (slice(0, first_at.start), *between, slice(after.stop, len(frame)))
    return Form(disposition, frame, same, first_at, last_at)


def single(disposition: Described) -> Settled:
    """Return the ids of a decoded disposition."""
    first, last = disposition.field(FIRST), disposition.field(LAST)
    return Settled(np.array([first]), np.array([first if last is None else last]))


def _ids(columns: stamps.Bytes) -> NDArray[np.int64]:
    wide = np.zeros((len(columns), 4), np.uint8)
    wide[:, 4 - columns.shape[1] :] = columns
    return wide.view(">u4").ravel().astype(np.int64)
