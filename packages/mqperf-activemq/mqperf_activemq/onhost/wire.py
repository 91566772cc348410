"""A connection to a broker, whatever it speaks: what publishers and consumers ask of it."""

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


class Come(NamedTuple):
    """Messages that have come: the stamp of each, when it was read, and what acknowledges them."""

    stamp: Stamps
    at: Instants
    acks: bytes


class Outcomes(NamedTuple):
    """The numbers of messages that the broker has, and of those that it refuses, with why."""

    confirmed: Numbers
    refused: Sequence[tuple[int, str]]


class Wire(Inbox):
    """An open connection, for one queue.  Its methods raise ``Lost`` or ``Refused``.

    Its ``name`` is its own, and has the same length as those of others.  What has come is
    ``understood`` up to there.
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
        """The messages of a thread; what is to be confirmed is asked for."""

    @abstractmethod
    def publish(self) -> None:
        """Return when messages can be sent to the queue."""

    @abstractmethod
    def consume(self) -> None:
        """Ask for the messages of the queue."""

    @abstractmethod
    def outcomes(self) -> Outcomes:
        """What has come to a publisher, which is then forgotten."""

    @abstractmethod
    def come(self) -> Come:
        """What has come to a consumer, which is then forgotten."""

    def read(self, stamps: Sequence[bytes], ends: Sequence[int], acks: Sequence[bytes]) -> Come:
        """Those messages, by where each ends in the buffer; all that was understood is forgotten.

        ``acks`` are those of each message or, at once, of many.
        """
        at = self.arrived_ns(np.array(ends, dtype=np.int64)) / NS
        self.forget()
        return Come(np.frombuffer(b"".join(stamps), STAMP), at, b"".join(acks))

    def forget(self) -> None:
        """Have room for others."""
        self.consumed(self.understood)
        self.understood = 0
