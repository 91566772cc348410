"""Dispositions, read as arrays: many brokers send one for each message, all of one form.

The form is learnt from the first; while frames of it follow each other, a buffer of them is one
array with a row for each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import Described
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_numbered.onhost import stamps

FIRST, LAST = 1, 2
"""Fields of a disposition."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Deliveries from each first to each last; ids are as they come, from 0 to 2**32 - 1."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


NONE = Settled(np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a frame: its bytes but for the values of its two ids.

    So all of one form say the same of their deliveries: ``one`` is the first of them.
    """

    one: Described
    frame: bytes
    same: tuple[slice, ...]
    first_at: slice
    last_at: slice | None

    def settled(self, connection: Connection, at: int) -> Settled:
        """The frames from there on that have this form, one after the other, and are whole."""
        length = len(self.frame)
        count = (connection.have - at) // length
        if count == 0:
            return NONE
        following = codec.beginning(connection.buffer, at + length)
        if count == 1 or following != codec.beginning(self.frame, 0):
            return self._settled(bytes(connection.buffer[at : at + length]))
        every = np.frombuffer(connection.buffer, np.uint8, count * length, at)
        rows, form = every.reshape(count, length), np.frombuffer(self.frame, np.uint8)
        fits = count
        for part in self.same:
            equal = rows[:fits, part] == form[part]
            if not equal.all():
                fits = int(equal.all(axis=1).argmin())
        first = _ids(rows[:fits, self.first_at])
        return Settled(first, first if self.last_at is None else _ids(rows[:fits, self.last_at]))

    def _settled(self, frame: bytes) -> Settled:
        """The same of one frame, in a tenth of the time."""
        if any(frame[part] != self.frame[part] for part in self.same):
            return NONE
        first = int.from_bytes(frame[self.first_at])
        last = first if self.last_at is None else int.from_bytes(frame[self.last_at])
        return Settled(np.array([first]), np.array([last]))


def form_of(frame: bytes, disposition: Described) -> Form | None:
    """The form of the frame that says ``disposition``; None where its ids have no width."""
    ends = [codec.fields_at(frame, 4 * frame[4])]
    for _ in range(LAST + 1):
        if len(ends) <= len(disposition.value):
            ends.append(codec.value(frame, ends[-1])[1])
    first_at = slice(ends[FIRST] + 1, ends[LAST])
    last_at = None
    if disposition.field(LAST) is not None:
        last_at = slice(ends[LAST] + 1, ends[LAST + 1])
    if any(part is not None and part.stop == part.start for part in (first_at, last_at)):
        return None
    after = first_at if last_at is None else last_at
    between = () if last_at is None else (slice(first_at.stop, last_at.start),)
    same = (slice(0, first_at.start), *between, slice(after.stop, len(frame)))
    return Form(disposition, frame, same, first_at, last_at)


def single(disposition: Described) -> Settled:
    """The same of one frame."""
    first, last = disposition.field(FIRST), disposition.field(LAST)
    return Settled(np.array([first]), np.array([first if last is None else last]))


def _ids(columns: stamps.Bytes) -> NDArray[np.int64]:
    wide = np.zeros((len(columns), 4), np.uint8)
    wide[:, 4 - columns.shape[1] :] = columns
    return wide.view(">u4").ravel().astype(np.int64)
