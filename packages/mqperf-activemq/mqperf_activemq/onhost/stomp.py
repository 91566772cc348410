"""STOMP 1.2 on the wire: frames of text, each with a body and a zero byte at its end.

Source: https://stomp.github.io/stomp-specification-1.2.html.
"""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mqperf_activemq.onhost.orders import Orders
from mqperf_activemq.onhost.rows import Rows
from mqperf_activemq.onhost.wire import Come, Outcomes, Wire
from mqperf_numbered.onhost.broker import Refused
from mqperf_numbered.onhost.inbox import HEARTBEAT_S
from mqperf_numbered.onhost.messages import DIGITS
from mqperf_numbered.onhost.stamps import within

HEAD = re.compile(rb"[\r\n]*([A-Z]+)\r?\n((?:[^\r\n]+\r?\n)*)\r?\n")
LENGTH = re.compile(rb"^content-length:(\d+)", re.MULTILINE)
ACK = re.compile(rb"^ack:([^\r\n]+)", re.MULTILINE)
RECEIPT = re.compile(rb"^receipt-id:(\d+)", re.MULTILINE)
MESSAGE = re.compile(rb"^message:([^\r\n]*)", re.MULTILINE)

LEAVING = 0
"""The receipt that is asked for last, and no message's: those have as many digits as all."""


class Frame(NamedTuple):
    """A frame as it is in a buffer: its body is from ``at`` on, and it ends at ``end``."""

    command: bytes
    head: bytes
    at: int
    size: int
    end: int


def frame_at(buffer: bytearray, at: int, have: int) -> Frame | None:
    """The frame that begins there; None before it is whole."""
    found = HEAD.match(buffer, at, have)
    if found is None:
        return None
    command, head = found.groups()
    length, begin = LENGTH.search(head), found.end()
    end = buffer.find(b"\0", begin, have) if length is None else begin + int(length[1])
    if not begin <= end < have:
        return None
    return Frame(command, head, begin, end - begin, end + 1)


def frame(command: str, *headers: str) -> bytes:
    """One without a body."""
    return "\n".join([command, *headers, "", "\0"]).encode()


def acknowledgement(found: Frame) -> bytes:
    """What acknowledges a message."""
    name = ACK.search(found.head)
    return b"" if name is None else b"ACK\nid:%s\n\n\0" % name[1]


class Stomp(Wire):
    """A connection that speaks it."""

    heartbeat = b"\n"
    answered = False

    @staticmethod
    def rows(orders: Orders, queue: str) -> Rows:
        """The messages of a thread, in rows."""
        persistent = str(orders.persistent).lower()
        head = f"SEND\ndestination:{queue}\npersistent:{persistent}\n".encode()
        receipt = b"receipt:%s\n" % (b"0" * DIGITS) if orders.confirms else b""
        number_at = len(head) + len("receipt:")
        head += receipt + b"content-length:%d\n\n" % orders.payload_bytes
        message = head + os.urandom(orders.payload_bytes) + b"\0"
        numbers_at = [(number_at, None)] if orders.confirms else []
        return Rows(message, len(head), len(orders.threads), numbers_at)

    def log_in(self) -> None:
        """Return when the broker knows us."""
        beat = HEARTBEAT_S * 1000
        login = ["accept-version:1.2", "host:mqperf", f"heart-beat:{beat},{beat}"]
        if self.broker.user:
            login += [f"login:{self.broker.user}", f"passcode:{self.broker.password}"]
        self.send(frame("CONNECT", *login))
        self._await(b"CONNECTED")

    def take_leave(self) -> None:
        """Return when the broker has read all that was sent."""
        self.send(frame("DISCONNECT", f"receipt:{LEAVING}"))
        self._await(b"RECEIPT", LEAVING)

    def publish(self) -> None:
        """The first message makes the queue, unless it is there."""

    def consume(self) -> None:
        """Ask for the messages of the queue."""
        acks = "client-individual" if self.orders.acks == "each" else "client"
        wanted = [f"destination:{self.queue}", "id:0", f"ack:{acks}"]
        self.send(frame("SUBSCRIBE", *wanted, f"consumer-window-size:{self.orders.window_bytes}"))

    def outcomes(self) -> Outcomes:
        """What became of messages."""
        confirmed, refused = list[int](), list[tuple[int, str]]()
        for each in self._frames():
            if (receipt := RECEIPT.search(each.head)) is None:
                self._only_errors(each)
            elif each.command == b"RECEIPT":
                confirmed.append(int(receipt[1]))
            else:
                refused.append((int(receipt[1]), self._why(each)))
        self.forget()
        return Outcomes(np.array(confirmed, dtype=np.int64), refused)

    def come(self) -> Come:
        """The messages that have come."""
        messages = list[Frame]()
        for each in self._frames():
            if each.command == b"MESSAGE":
                messages.append(each)
            else:
                self._only_errors(each)
        stamps = [within(self.buffer, each.at, each.size) for each in messages]
        to_ack = messages if self.orders.acks == "each" else messages[-1:]
        ends = [each.end for each in messages]
        return self.read(stamps, ends, [acknowledgement(each) for each in to_ack])

    def _frames(self) -> Iterator[Frame]:
        while (found := frame_at(self.buffer, self.understood, self.have)) is not None:
            self.understood = found.end
            yield found

    def _await(self, command: bytes, receipt: int | None = None) -> None:
        """Return when such a frame has come; all before it is forgotten."""
        while True:
            for each in self._frames():
                if each.command == b"ERROR":
                    raise Refused(f"{self.address}: {self._why(each)}")
                number = RECEIPT.search(each.head)
                if each.command == command and (
                    receipt is None or (number is not None and number[1] == b"%d" % receipt)
                ):
                    self.forget()
                    return
            self.forget()
            self.fill()

    def _only_errors(self, each: Frame) -> None:
        """Raise ``Lost`` for one that is of no message."""
        if each.command == b"ERROR":
            raise self.lost(self._why(each))

    def _why(self, each: Frame) -> str:
        found = MESSAGE.search(each.head)
        words = bytes(self.view[each.at : each.at + each.size]) if found is None else found[1]
        return words.decode(errors="replace").strip()
