"""Codec of STOMP 1.2: frames of text, each with a body and a zero byte at its end.

Source: https://stomp.github.io/stomp-specification-1.2.html.
"""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mqperf_activemq.onhost.orders import Orders
from mqperf_activemq.onhost.rows import Rows
from mqperf_activemq.onhost.wire import Arrived, Outcomes, Wire
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
"""Receipt number of the last frame; distinct from a message's, which has ``DIGITS`` digits."""


class Frame(NamedTuple):
    """A frame in a buffer: its body is at ``at``, and the frame ends at ``end``."""

    command: bytes
    head: bytes
    at: int
    size: int
    end: int


def frame_at(buffer: bytearray, at: int, have: int) -> Frame | None:
    """Return the frame that begins at ``at``; None before it is complete."""
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
    """Encode a frame without a body."""
    return "\n".join([command, *headers, "", "\0"]).encode()


def acknowledgement(found: Frame) -> bytes:
    """Encode the acknowledgement of a message."""
    name = ACK.search(found.head)
    return b"" if name is None else b"ACK\nid:%s\n\n\0" % name[1]


class Stomp(Wire):
    """A connection with STOMP."""

    heartbeat = b"\n"
    answered = False

    @staticmethod
    def rows(orders: Orders, queue: str) -> Rows:
        """Return the messages of a thread as rows."""
        persistent = str(orders.persistent).lower()
        head = f"SEND\ndestination:{queue}\npersistent:{persistent}\n".encode()
        receipt = b"receipt:%s\n" % (b"0" * DIGITS) if orders.confirms else b""
        number_at = len(head) + len("receipt:")
        head += receipt + b"content-length:%d\n\n" % orders.payload_bytes
        message = head + os.urandom(orders.payload_bytes) + b"\0"
        numbers_at = [(number_at, None)] if orders.confirms else []
        return Rows(message, len(head), len(orders.threads), numbers_at)

    def log_in(self) -> None:
        """Log in; return when the broker has accepted the connection."""
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
        """Do nothing: the first message creates the queue if there is none."""

    def consume(self) -> None:
        """Subscribe to the queue."""
        acks = "client-individual" if self.orders.acks == "each" else "client"
        headers = [f"destination:{self.queue}", "id:0", f"ack:{acks}"]
        self.send(frame("SUBSCRIBE", *headers, f"consumer-window-size:{self.orders.window_bytes}"))

    def outcomes(self) -> Outcomes:
        """Return the confirmed and the refused messages."""
        confirmed, refused = list[int](), list[tuple[int, str]]()
        for each in self._frames():
            if (receipt := RECEIPT.search(each.head)) is None:
                self._raise_if_error(each)
            elif each.command == b"RECEIPT":
                confirmed.append(int(receipt[1]))
            else:
                refused.append((int(receipt[1]), self._error_text(each)))
        self.forget()
        return Outcomes(np.array(confirmed, dtype=np.int64), refused)

    def arrived(self) -> Arrived:
        """Return the messages that have arrived."""
        messages = list[Frame]()
        for each in self._frames():
            if each.command == b"MESSAGE":
                messages.append(each)
            else:
                self._raise_if_error(each)
        stamps = [within(self.buffer, each.at, each.size) for each in messages]
        to_ack = messages if self.orders.acks == "each" else messages[-1:]
        ends = [each.end for each in messages]
        return self.read(stamps, ends, [acknowledgement(each) for each in to_ack])

    def _frames(self) -> Iterator[Frame]:
        while (found := frame_at(self.buffer, self.understood, self.have)) is not None:
            self.understood = found.end
            yield found

    def _await(self, command: bytes, receipt: int | None = None) -> None:
        """Return when such a frame has arrived; frames before it are dropped."""
        while True:
            for each in self._frames():
                if each.command == b"ERROR":
                    raise Refused(f"{self.address}: {self._error_text(each)}")
                number = RECEIPT.search(each.head)
                if each.command == command and (
                    receipt is None or (number is not None and number[1] == b"%d" % receipt)
                ):
                    self.forget()
                    return
            self.forget()
            self.fill()

    def _raise_if_error(self, each: Frame) -> None:
        """Raise ``Lost`` for a frame ERROR; ignore any other."""
        if each.command == b"ERROR":
            raise self.lost(self._error_text(each))

    def _error_text(self, each: Frame) -> str:
        header = MESSAGE.search(each.head)
        text = bytes(self.view[each.at : each.at + each.size]) if header is None else header[1]
        return text.decode(errors="replace").strip()
