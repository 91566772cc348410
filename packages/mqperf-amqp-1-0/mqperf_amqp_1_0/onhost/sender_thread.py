"""A sending thread: its link, the templates of its messages, and its credit and progress."""

import time
from dataclasses import replace
from random import Random
from typing import NamedTuple

import numpy as np

from mqperf_amqp_1_0.onhost import codec, links
from mqperf_amqp_1_0.onhost.codec import HIGHEST, Described, boolean, composite, ubyte, uint
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_amqp_1_0.onhost.orders import Orders
from mqperf_amqp_1_0.onhost.unsettled import Unsettled
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.broker import Refused
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.sending_thread import SendingThread

BLOCK_BYTES = 1 << 17
"""The size of a block of messages of one length, of one thread."""

MOST_LENGTHS = 21
"""The most different lengths, as each has a block of its own."""

ID_AT = codec.FRAME.size + 3 + 9 + 5 + 1
"""The offset of the delivery id in a frame: after descriptor, head of the list, and handle."""

TAG_AT = ID_AT + 4 + 2


class Block(NamedTuple):
    """Prepared messages of one length, a row each, with their stamps; each has ``frames``."""

    rows: stamps.Bytes
    stamps: stamps.Stamps
    frames: int
    size: int


class SenderThread(SendingThread):
    """A sending thread, which numbers the messages that it handed over whole from 0.

    The other end accepts ``limit`` messages on this link, of which ``on_link`` were sent.
    """

    def __init__(self, orders: Orders, thread: Thread, record: Record) -> None:
        super().__init__(orders, thread.number, record)
        self.orders, self.thread = orders, thread
        self.had_credit = False
        self.random = Random(thread.number)

    def attach(self, connection: Connection, handle: int, unsettled: Unsettled) -> None:
        """Prepare blocks of messages for a link on a new connection."""
        self.connection, self.handle, self.unsettled = connection, handle, unsettled
        self.on_link = self.limit = 0
        self.first = self.count = 0
        self.began_at = connection.queued
        body_lengths = lengths(self.orders)
        sharing = len(self.orders.threads) * len(body_lengths)
        self.blocks = [self._block(length, sharing) for length in body_lengths]
        self.unit = 0
        self.most = min(len(block.rows) for block in self.blocks)
        self.frames = max(block.frames for block in self.blocks)

    def _block(self, length: int, sharing: int) -> Block:
        """Prepare a block, one of ``sharing`` blocks that share the memory of a process."""
        orders = replace(self.orders, payload_bytes=length)
        message = template(orders, self.handle, self.connection.frame_max)
        rows, block_stamps = stamps.block(message.frames, message.stamp_at, BLOCK_BYTES, sharing)
        block_stamps["run"], block_stamps["sender"] = orders.run, self.number
        return Block(rows, block_stamps, message.pieces, message.size)

    def check_size(self, most: int | None) -> None:
        """Raise ``Refused`` if messages are larger than the link allows."""
        size = max(block.size for block in self.blocks)
        if most and size > most:
            raise Refused(
                f"{self.thread.address} takes messages of up to {most} bytes, those of the load"
                f" have {size}: lower payload_bytes"
            )

    def flow(self, flow: Described) -> None:
        """Update the credit by a flow; discard it if the other end drains the link."""
        count, credit = flow.field(5), flow.field(6)
        self.limit = (0 if count is None else count) + (credit or 0)
        self.had_credit = self.had_credit or bool(credit)
        if flow.field(8):
            self.on_link += max(self.credit, 0)
            self.limit = self.on_link
            self._send_flow(drained=True)
        elif flow.field(9):
            self._send_flow(drained=False)

    @property
    def credit(self) -> int:
        """How many messages the other end accepts now; negative if it has reduced the credit."""
        return codec.ahead(self.limit, self.on_link)

    def sendable(self, now_ns: int) -> int:
        """Return how many messages may be sent now."""
        due = self.most if self.schedule is None else self.schedule.due(now_ns) - self.next
        room = self.connection.window // self.frames
        most = self.most if self.orders.settled else min(self.most, self.unsettled.room)
        return min(due, self.total - self.next, self.credit, room, most)

    def send(self, count: int) -> None:
        """Send ``count`` messages of one length; all earlier ones must be handed over."""
        block = self.blocks[0] if len(self.blocks) == 1 else self.random.choice(self.blocks)
        now_ns = time.time_ns()
        due_ns: Numbers | int = now_ns
        if self.schedule is not None:
            due_ns = self.schedule.instants_ns(self.next, count)
        block_stamps = block.stamps[:count]
        block_stamps["number"] = np.arange(self.next, self.next + count)
        block_stamps["due_ns"], block_stamps["sent_ns"] = due_ns, now_ns
        first = self.unsettled.next
        ids = (np.arange(first, first + count) % HIGHEST).astype(">u4").view(np.uint8)
        for at in (ID_AT, TAG_AT):
            block.rows[:count, at : at + 4] = ids.reshape(count, 4)
        if self.orders.settled:
            self.unsettled.pass_by(count)
        else:
            self.unsettled.add(self.number, self.next, count, due_ns)
        self.on_link += count
        self.connection.outgoing += count * block.frames
        self.connection.window -= count * block.frames
        self.first, self.count, self.sent_ns = self.next, count, now_ns
        self.block_due_ns = due_ns
        self.began_at, self.unit = self.connection.queued, block.rows.shape[1]
        self.connection.send(block.rows[:count].data.cast("B"))
        if self.connection.drained:
            self.settle()

    def settle(self) -> None:
        """Count the messages of the last block that were handed over whole; the rest are unsent."""
        if not self.count:
            return
        whole = min((self.connection.sent - self.began_at) // self.unit, self.count)
        numbers = np.arange(self.first, self.first + whole)
        self.record.add("sent", self.number, numbers, self.sent_ns / NS)
        if isinstance(self.block_due_ns, np.ndarray):
            due = self.block_due_ns[:whole] / NS
            self.record.add("handover", self.number, numbers, due, self.sent_ns / NS)
        if whole < self.count:
            self.unsettled.take_back(self.count - whole)
        self.next = self.first + whole
        self.count = 0

    def _send_flow(self, *, drained: bool) -> None:
        credit = max(self.credit, 0)
        self.connection.send(
            links.flow(self.connection, self.handle, self.on_link, credit, drained=drained)
        )


class Template(NamedTuple):
    """A message as frames: the offset of its stamp, the number of ``pieces``, and its size."""

    frames: bytes
    stamp_at: int
    pieces: int
    size: int


def lengths(orders: Orders) -> list[int]:
    """Return the lengths of bodies, evenly spread, at most ``MOST_LENGTHS``."""
    spread = round(orders.payload_bytes * (orders.payload_spread or 0.0))
    offsets = np.linspace(-spread, spread, min(2 * spread + 1, MOST_LENGTHS))
    return [orders.payload_bytes + int(offset) for offset in np.rint(offsets)]


def template(orders: Orders, handle: int, frame_max: int) -> Template:
    """Return a message with room for its stamp, as frames."""
    message = _sections(orders) + _data(body(orders))
    body_at = len(message) - orders.payload_bytes
    first = _transfer(orders, handle, more=True, begins=True)
    later = _transfer(orders, handle, more=True, begins=False)
    room = frame_max - codec.FRAME.size - len(first)
    parts = [message[:room]]
    room = frame_max - codec.FRAME.size - len(later)
    parts += [message[at : at + room] for at in range(len(parts[0]), len(message), room)]
    frames = [
        codec.frame(_transfer(orders, handle, more=left > 0, begins=left == len(parts) - 1) + part)
        for left, part in zip(range(len(parts) - 1, -1, -1), parts, strict=True)
    ]
    stamp_at = codec.FRAME.size + len(first) + body_at
    return Template(b"".join(frames), stamp_at, len(frames), len(message))


def body(orders: Orders) -> bytes:
    """Return random, incompressible bytes, the same for every message of a run."""
    return Random(orders.run).randbytes(orders.payload_bytes)


def _transfer(orders: Orders, handle: int, *, more: bool, begins: bool) -> bytes:
    """Encode the performative of a message's first frame, or of a later one; of fixed lengths."""
    fields = (uint(0), codec.binary(bytes(4)), codec.uint(0)) if begins else (codec.NULL,) * 3
    return composite(codec.TRANSFER, uint(handle), *fields, boolean(orders.settled), boolean(more))


def _sections(orders: Orders) -> bytes:
    """Encode the header section of a message; nothing if all its fields are defaults."""
    if not orders.durable and orders.priority is None and orders.ttl_ms is None:
        return b""
    return composite(
        codec.HEADER,
        boolean(orders.durable),
        codec.NULL if orders.priority is None else ubyte(orders.priority),
        codec.NULL if orders.ttl_ms is None else uint(orders.ttl_ms),
    )


def _data(body: bytes) -> bytes:
    """Encode the data section, the body of a message."""
    return codec.descriptor(codec.DATA) + codec.binary(body)
