"""The common state of sending threads: schedule, total, and progress."""

from mqperf_numbered.onhost.orders import ThreadOrders
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.schedule import of_thread


class SendingThread:
    """A thread that sends ``total`` messages at most; ``next`` of them were handed over so far.

    ``count`` more were sent at ``sent_ns``, and may be handed over in part only.
    """

    def __init__(self, orders: ThreadOrders, number: int, record: Record) -> None:
        self.number, self.record = number, record
        self.schedule = of_thread(orders, number)
        self.total = orders.count_of(number)
        self.next = self.count = self.sent_ns = 0

    def next_due_ns(self) -> int:
        """Return when the next message is due; 0, at once, without a schedule."""
        return 0 if self.schedule is None else self.schedule.instant_ns(self.next)
