"""Parses deliveries as arrays: the messages of a load have few forms, which are learnt.

A delivery is a method frame, a header frame and body frames.  While consecutive deliveries have a
known form, a whole buffer of them is parsed as one array with a row for each.  Anything else is
parsed frame by frame.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.codec import Reader
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.broker import Lost

MOST_FORMS = 8
"""The most forms that are kept, one for each length of deliveries, such as those of a mix."""

AT_ONCE = 64
"""Deliveries of a mix compared with a form at once: few in succession have the same form."""

TAG_AT = 12
"""Offset of the consumer tag in a frame of ``basic.deliver``, after its length."""


FIXED = (4, 12)
"""Bytes of method and header that a form fixes: class and method; class, weight and length."""

FROM = "x-stream-offset"
"""The header with the offset of a message in a stream; consumers request by it where to begin."""

_OFFSET = codec.short(FROM) + b"l"


@dataclass(frozen=True, slots=True)
class Batch:
    """Deliveries in order: channel, delivery tag and stamp of each, and when it was read.

    ``again`` is the redelivered flag.  All bodies have ``body_bytes``.  ``offset`` is that of each
    message in its stream; None for messages from queues.
    """

    channel: NDArray[np.int64]
    tag: NDArray[np.int64]
    stamp: stamps.Stamps
    read_ns: NDArray[np.int64]
    again: NDArray[np.bool_]
    body_bytes: int
    offset: NDArray[np.int64] | None = None

    def where(self, chosen: NDArray[np.bool_]) -> "Batch":
        """Return the chosen deliveries, in order."""
        return replace(
            self,
            channel=self.channel[chosen],
            tag=self.tag[chosen],
            stamp=self.stamp[chosen],
            read_ns=self.read_ns[chosen],
            again=self.again[chosen],
            offset=None if self.offset is None else self.offset[chosen],
        )


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a delivery: its length, the fixed ``values`` at ``places``, and where fields are.

    ``offset_at`` is the position of the offset in a stream, None for messages from queues.
    """

    length: int
    places: NDArray[np.int64]
    values: NDArray[np.uint8]
    tag_at: int
    stamp_at: int
    body_bytes: int
    offset_at: int | None = None

    def fitting(self, rows: stamps.Bytes) -> int:
        """Return how many rows, from the first on, have this form."""
        same = (rows[:, self.places] == self.values).all(axis=1)
        return len(rows) if same.all() else int(same.argmin())

    def batch(self, rows: stamps.Bytes, read_ns: NDArray[np.int64]) -> Batch:
        """Parse rows of this form."""
        channel = rows[:, 1].astype(np.int64) << 8 | rows[:, 2]
        stamp = stamps.read(rows[:, self.stamp_at : self.stamp_at + stamps.SIZE])
        offset = None if self.offset_at is None else _numbers(rows, self.offset_at)
        tag, again = _numbers(rows, self.tag_at), rows[:, self.tag_at + 8] & 1 != 0
        return Batch(channel, tag, stamp, read_ns, again, self.body_bytes, offset)


def _numbers(rows: stamps.Bytes, at: int) -> NDArray[np.int64]:
    """Return the 64-bit numbers at that position of every row."""
    return np.ascontiguousarray(rows[:, at : at + 8]).view(">i8").ravel().astype(np.int64)


@dataclass(slots=True)
class _Partial:
    """A message whose frames have come in part; ``got`` bytes of ``size`` of its body."""

    method: bytes
    header: bytes = b""
    body: list[bytes] = field(default_factory=list)
    size: int = 0
    got: int = 0


class Assembler:
    """Assembles messages from single frames, channel by channel."""

    def __init__(self) -> None:
        self.partial: dict[int, _Partial] = {}

    def take(self, kind: int, channel: int, payload: bytes) -> tuple[bytes, bytes, bytes] | None:
        """Return method, header and body of the message that this frame completes, or None."""
        if kind == codec.METHOD:
            self.partial[channel] = _Partial(payload)
            return None
        if (partial := self.partial.get(channel)) is None:
            raise Lost("the broker sent content without its method")
        if kind == codec.CONTENT_HEADER:
            partial.header, partial.size = payload, Reader(payload, 4).number("Q")
        else:
            partial.body.append(payload)
            partial.got += len(payload)
        if partial.got < partial.size:
            return None
        del self.partial[channel]
        return partial.method, partial.header, b"".join(partial.body)


class Deliveries:
    """Parses what comes on a connection with consumers.

    Stamps are at the beginning of the body if ``in_body``, else in the message-id.
    """

    def __init__(
        self,
        connection: Connection,
        take: Callable[[Batch], None],
        other: Callable[[int, bytes], None],
        *,
        in_body: bool,
    ) -> None:
        """Pass batches of deliveries to ``take``, and all other methods to ``other``."""
        self.connection = connection
        self.take = take
        self.other = other
        self.in_body = in_body
        self.forms: list[Form] = []
        self.assembler = Assembler()
        self.begun = 0

    @property
    def shortest(self) -> int:
        """The length of the shortest known form; 0 if none is known."""
        return min((form.length for form in self.forms), default=0)

    def read(self) -> None:
        """Parse everything that has come whole; each delivery is passed on exactly once."""
        connection, at = self.connection, 0
        try:
            while True:
                if self.forms and not self.assembler.partial:
                    while read := self._known(at):
                        at += read
                    if any(self._begins(form, at) for form in self.forms):
                        break  # its rest has not come yet
                frame = connection.frame(at)
                if frame is None:
                    break
                at = self._read_frame(at, *frame)
        finally:
            connection.consumed(at)
            self.begun -= at

    def _known(self, at: int) -> int:
        """Parse deliveries of one of the known forms; return how many bytes they had."""
        return next((read for form in self.forms if (read := self._rows(form, at))), 0)

    def _rows(self, form: Form, at: int) -> int:
        """Parse deliveries of a form; return how many bytes they had."""
        count = (self.connection.have - at) // form.length
        if len(self.forms) > 1:
            count = min(count, AT_ONCE)
        if not count:
            return 0
        every = np.frombuffer(self.connection.buffer, np.uint8, count * form.length, at)
        rows = every.reshape(count, form.length)
        if fitting := form.fitting(rows):
            ends = np.arange(1, fitting + 1) * form.length + at
            self.take(form.batch(rows[:fitting], self.connection.arrived_ns(ends)))
        return fitting * form.length

    def _begins(self, form: Form, at: int) -> bool:
        """Whether the remaining bytes are the beginning of a delivery of the form."""
        rest = np.frombuffer(self.connection.buffer, np.uint8, self.connection.have - at, at)
        inside = form.places < len(rest)
        return bool(len(rest)) and bool((rest[form.places[inside]] == form.values[inside]).all())

    def _read_frame(self, at: int, kind: int, channel: int, payload: bytes) -> int:
        """Handle a frame; return the position of its end."""
        end = at + len(payload) + codec.OVERHEAD
        if kind == codec.METHOD and codec.which(payload) != codec.DELIVER:
            self.other(channel, payload)
        elif kind != codec.HEARTBEAT_TYPE:
            if kind == codec.METHOD:
                self.begun = at
            if (whole := self.assembler.take(kind, channel, payload)) is not None:
                self._message(end, channel, *whole)
                self._learn(end, *whole)
        return end

    def _message(self, end: int, channel: int, method: bytes, header: bytes, body: bytes) -> None:
        stamp = stamp_of(header, body, in_body=self.in_body)
        tag, again = np.array([codec.delivery_tag(method)]), np.array([codec.redelivered(method)])
        read_ns = self.connection.arrived_ns(np.array([end]))
        at = _offset_at(header)
        offset = None if at is None else np.array([Reader(header, at).number("q")])
        self.take(Batch(np.array([channel]), tag, stamp, read_ns, again, len(body), offset))

    def _learn(self, end: int, method: bytes, header: bytes, body: bytes) -> None:
        """Add the form of a message, if its frames were consecutive, as they nearly always are."""
        frames = [method, header, *codec.split(body, self.connection.frame_max)]
        if self.begun >= 0 and end - self.begun == sum(
            len(frame) + codec.OVERHEAD for frame in frames
        ):
            delivery = bytes(self.connection.buffer[self.begun : end])
            if (form := form_of(delivery, in_body=self.in_body)) is not None:
                others = (other for other in self.forms if other.length != form.length)
                self.forms = [form, *others][:MOST_FORMS]


def form_of(delivery: bytes, *, in_body: bool) -> Form | None:
    """Return the form of a delivery, given as bytes; None if it has no stamp."""
    payloads: list[tuple[int, bytes]] = []
    places, at = [TAG_AT - 1], 0
    while at < len(delivery):
        _, _, size = codec.FRAME.unpack_from(delivery, at)
        start, end = at + codec.FRAME.size, at + size + codec.OVERHEAD
        places += [at, *range(at + 3, start), end - 1]
        if len(payloads) < len(FIXED):
            places += range(start, start + FIXED[len(payloads)])
        payloads.append((start, delivery[start : end - 1]))
        at = end
    stamp_at = _stamp_at(payloads, in_body=in_body)
    if stamp_at is None:
        return None
    order = np.unique(places)
    values = np.frombuffer(delivery, np.uint8)[order]
    start, header = payloads[1]
    offset_at = _offset_at(header)
    return Form(
        len(delivery),
        order,
        values,
        TAG_AT + delivery[TAG_AT - 1],
        stamp_at,
        codec.Reader(header, 4).number("Q"),
        None if offset_at is None else start + offset_at,
    )


def _offset_at(header: bytes) -> int | None:
    """Return the position of the stream offset in a content header; None if it has none."""
    at = header.find(_OFFSET)
    return None if at < 0 else at + len(_OFFSET)


def _stamp_at(payloads: Sequence[tuple[int, bytes]], *, in_body: bool) -> int | None:
    """Return the position of the stamp, or None; payloads are pairs of position and content."""
    if in_body:
        start, content = payloads[2] if len(payloads) > 2 else (0, b"")
        return start if len(content) >= stamps.SIZE else None
    start, content = payloads[1]
    message_id = codec.message_id(content)
    if message_id is None or len(message_id) != stamps.SIZE:
        return None
    return start + content.index(codec.short(message_id)) + 1


def stamp_of(header: bytes, body: bytes, *, in_body: bool) -> stamps.Stamps:
    """Return the stamp of a message; all zero, for no run, if it has none."""
    content = body[: stamps.SIZE] if in_body else codec.message_id(header) or b""
    if len(content) != stamps.SIZE:
        content = bytes(stamps.SIZE)
    return np.frombuffer(content, stamps.STAMP)
