"""Which thread sends next: the one whose message is due first."""

from heapq import heappop, heappush

from mqperf_amqp_0_9_1.onhost.publisher_thread import PublisherThread


class SendQueue:
    """Threads by the instant at which they are to send; those that cannot are not in it."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, int, PublisherThread]] = []

    def add(self, at_ns: int, publisher: PublisherThread) -> None:
        """Let a thread send at that instant."""
        heappush(self.entries, (at_ns, publisher.thread.number, publisher))

    def take(self, now_ns: int) -> PublisherThread | None:
        """The thread that has waited longest of those that are to send by now; it is no more in."""
        if not self.entries or self.entries[0][0] > now_ns:
            return None
        return heappop(self.entries)[2]

    @property
    def next_ns(self) -> int | None:
        """When the first is to send."""
        return self.entries[0][0] if self.entries else None
