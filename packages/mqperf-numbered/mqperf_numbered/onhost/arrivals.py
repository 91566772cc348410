"""What a server has received, by the stamps of messages: whose each is, and how long it took."""

import numpy as np

from mqperf_numbered.onhost.orders import Orders
from mqperf_numbered.onhost.record import BATCH, STRANGER, Instants, Numbers, Record
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.stamps import Stamps


class Arrivals:
    """The messages of one process: ``received`` of all, of which ``strangers`` are not of its run.

    ``took_s`` is how long all of them took together, since each was due, and ``late`` how many took
    longer than each of some limits.

    Where the load is ``paced``, the time since they were sent is recorded beside that since they
    were due.
    """

    def __init__(self, record: Record, orders: Orders) -> None:
        self.record, self.run, self.paced = record, orders.run, orders.paced
        self.limits_s, self.late = orders.limits_s, [0] * len(orders.limits_s)
        self.received = self.strangers = 0
        self.took_s = 0.0

    def take(self, stamp: Stamps, sender: Numbers, now: Instants | float) -> Instants:
        """Record messages, each with the place of its sender, and when it was read.

        Gives when they were due, in epoch seconds.  Strangers' are numbered as they come, and
        count as due and sent when they were read.  Before the start is known, the first of them
        are recorded, and no more: whose second is not known must be kept.
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
        for place, limit in enumerate(self.limits_s):
            self.late[place] += int((took > limit).sum())
        return due

    @property
    def missing(self) -> int:
        """Messages that have not come, though later ones of their senders have."""
        return self.record.missing("received")
