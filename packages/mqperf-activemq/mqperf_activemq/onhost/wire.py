"""The interface of connections to a broker, for publishers and consumers, in any protocol."""

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mqperf_activemq.onhost.orders import Orders
from mqperf_activemq.onhost.rows import Rows
from mqperf_numbered.onhost.inbox import HEARTBEAT_S, Inbox
from mqperf_numbered.onhost.record import Instants, Numbers
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.stamps import STAMP, Stamps

BUFFER_BYTES = 1 << 18
NAME_BYTES = 24


class Arrived(NamedTuple):
    """Messages that arrived: the stamp and instant of each, and acknowledgements to be sent."""

    stamp: Stamps
    at: Instants
    acks: bytes


class Outcomes(NamedTuple):
    """The numbers of confirmed messages, and of refused ones with the reason."""

    confirmed: Numbers
    refused: Sequence[tuple[int, str]]


class Wire(Inbox):
    """An open connection, for one queue.  Its methods raise ``Lost`` or ``Refused``.

    Its ``name`` is unique, and all names have the same length.  ``understood`` is the end of the
    part of the buffer that was handled.
    """

    heartbeat_s = HEARTBEAT_S
    answered = True

    def __init__(self, orders: Orders, queue: str) -> None:
        self.orders, self.queue, self.understood = orders, queue, 0
        self.name = os.urandom(NAME_BYTES // 2).hex()
        super().__init__(orders.broker, BUFFER_BYTES)

    @staticmethod
    @abstractmethod
    def rows(orders: Orders, queue: str) -> Rows:
        """Return the messages of a thread, which request confirms if orders say so."""

    @abstractmethod
    def publish(self) -> None:
        """Return when messages can be sent to the queue."""

    @abstractmethod
    def consume(self) -> None:
        """Subscribe to the queue."""

    @abstractmethod
    def outcomes(self) -> Outcomes:
        """Return, and drop, what a publisher has received."""

    @abstractmethod
    def arrived(self) -> Arrived:
        """Return, and drop, what a consumer has received."""

    def read(self, stamps: Sequence[bytes], ends: Sequence[int], acks: Sequence[bytes]) -> Arrived:
        """Return messages by their ends in the buffer, and drop what was handled from the buffer.

        ``acks`` has an acknowledgement for each message, or one for several.
        """
        at = self.arrived_ns(np.array(ends, dtype=np.int64)) / NS
        self.forget()
        return Arrived(np.frombuffer(b"".join(stamps), STAMP), at, b"".join(acks))

    def forget(self) -> None:
        """Drop what was handled from the buffer."""
        self.consumed(self.understood)
        self.understood = 0
