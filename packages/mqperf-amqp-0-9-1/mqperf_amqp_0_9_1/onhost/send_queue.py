"""The queue of threads that can send, ordered by when their next message is due."""

from heapq import heappop, heappush

from mqperf_amqp_0_9_1.onhost.publisher_thread import PublisherThread


class SendQueue:
    """Threads by the instant at which they are to send, without those that cannot send."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, int, PublisherThread]] = []

    def add(self, at_ns: int, publisher: PublisherThread) -> None:
        """Add a thread that is to send at that instant."""
        heappush(self.entries, (at_ns, publisher.thread.number, publisher))

    def take(self, now_ns: int) -> PublisherThread | None:
        """Remove and return the thread that was due first; None if none is due by now."""
        if not self.entries or self.entries[0][0] > now_ns:
            return None
        return heappop(self.entries)[2]

    @property
    def next_ns(self) -> int | None:
        """When the first thread is to send; None if there is none."""
        return self.entries[0][0] if self.entries else None
