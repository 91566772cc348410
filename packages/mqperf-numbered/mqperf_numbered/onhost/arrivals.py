"""Counts what a server receives by the stamps of messages: sender, number and latency of each."""

import numpy as np

from mqperf_numbered.onhost.orders import Orders
from mqperf_numbered.onhost.record import BATCH, STRANGER, Instants, Numbers, Record
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.stamps import Stamps


class Arrivals:
    """The messages a process ``received``, of which ``strangers`` are not of its run.

    ``took_s`` is the sum of all latencies, each since the message was due; ``late`` counts the
    messages above each latency limit.

    In a ``paced`` load, the service time since the message was sent is recorded, too.
    """

    def __init__(self, record: Record, orders: Orders) -> None:
        self.record, self.run, self.paced = record, orders.run, orders.paced
        self.limits_s, self.late = orders.limits_s, [0] * len(orders.limits_s)
        self.received = self.strangers = 0
        self.took_s = 0.0

    def take(self, stamp: Stamps, sender: Numbers, now: Instants | float) -> Instants:
        """Record messages, each with the index of its sender, read at ``now``.

        Returns when they were due, in epoch seconds.  Messages of strangers are numbered as they
        come, and count as due and sent when read.  Only the first of them are recorded before the
        start of the load is known, as they are held in memory until then.
        """
        number = stamp["number"].astype(np.int64)
        due, sent = stamp["due_ns"] / NS, stamp["sent_ns"] / NS
        foreign = stamp["run"] != self.run
        early = foreign.all() and not self.record.tally.start
        if early and self.strangers + len(stamp) >= BATCH:
            return np.full(len(stamp), now)
        if foreign.any():
            count = int(foreign.sum())
            sender = np.where(foreign, STRANGER, sender)
            number[foreign] = np.arange(self.strangers, self.strangers + count)
            due, sent = np.where(foreign, now, due), np.where(foreign, now, sent)
            self.strangers += count
        self.record.add("received", sender, number, due, now)
        if self.paced:
            self.record.add("service", sender, number, sent, now)
        self.received += len(stamp)
        took = now - due
        self.took_s += float(took.sum())
        for index, limit in enumerate(self.limits_s):
            self.late[index] += int((took > limit).sum())
        return due

    @property
    def missing(self) -> int:
        """Messages that have not arrived although later ones of their senders have."""
        return self.record.missing("received")
