"""Counts the copies of all messages published to a virtual host: RabbitMQ's firehose.

The broker copies messages to an exchange while an administrator has tracing on.  The copies come
through an exclusive queue, which is deleted with the connection.  Copies beyond its length limit
are dead-lettered to a second queue, so that dropped messages are noticed.
"""

import secrets
import select
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator

from mqperf.base.errors import SystemFault
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.codec import Reader, Table
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.broker import Broker, Lost, Refused
from mqperf_traffic.lab.counting import Counting

EXCHANGE, PUBLISHED = "amq.rabbitmq.trace", "publish.#"

MOST_WAITING, MOST_WAITING_BYTES = 100_000, 1 << 28
"""Limits of the capturing queue, in messages and bytes: the memory that the broker must have."""

CHANNEL = 1
DELIVERED, DECLARED = (
    struct.pack(">HH", *method) for method in (codec.DELIVER, codec.QUEUE_DECLARE_OK)
)

HEADERS_ONLY = 0x2000
"""The flags of a content header that has a table of headers and nothing else."""

SIZE, FLAGS, TABLE = slice(4, 12), slice(12, 14), slice(14, None)
"""The bytes of body size, flags and table in a content header."""

ASK_EVERY_S = 1.0
SILENT_S = 5.0
ANSWER_S = 10.0


class Firehose:
    """A connection that consumes the copies, and the largest backlog and drops of its queues."""

    def __init__(self, broker: Broker) -> None:
        """Connect, and begin to consume copies; raises ``SystemFault``."""
        self.most_waiting, self.dropped, self.answers = 0, False, 0
        try:
            self.connection = Connection(broker)
            try:
                self._declare()
            except BaseException:
                self.connection.socket.close()
                raise
        except Lost as error:  # it names the address
            raise SystemFault(str(error)) from None
        except Refused as error:
            raise SystemFault(f"{broker.addresses[0]}: {error}") from None
        self.connection.flowing()

    def capture(self, counting: Counting, silent: Callable[[], None]) -> None:
        """Count messages for ``counting.seconds``; call ``silent`` if none comes in the first 5 s.

        Raises ``SystemFault`` if the connection is lost, or a message is not the firehose's.
        """
        try:
            self._capture(counting, silent)
        except Lost as error:
            raise SystemFault(str(error)) from None
        except (Refused, ValueError) as error:
            raise SystemFault(f"{self.connection.address}: {error}") from None
        finally:
            self.connection.socket.close()

    def _declare(self) -> None:
        name = f"mqperf.capture.{secrets.token_hex(8)}"
        self.queue, self.overflow = name, f"{name}.dropped"
        self.connection.open_channel(CHANNEL)
        limits = {"x-max-length": MOST_WAITING, "x-max-length-bytes": MOST_WAITING_BYTES}
        drop = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": self.overflow}
        self._declare_queue(self.overflow, {"x-max-length": 1})
        self._declare_queue(self.queue, {**limits, **drop})
        bind = codec.queue_bind(self.queue, EXCHANGE, PUBLISHED)
        self.connection.call(CHANNEL, codec.QUEUE_BIND, bind)
        consume = codec.consume(self.queue, no_ack=True)
        self.connection.send(codec.method(CHANNEL, codec.CONSUME, consume))

    def _declare_queue(self, queue: str, arguments: Table) -> None:
        declare = codec.queue_declare(queue, arguments, exclusive=True)
        self.connection.call(CHANNEL, codec.QUEUE_DECLARE, declare)

    def _capture(self, counting: Counting, silent: Callable[[], None]) -> None:
        begin = ask_at = time.monotonic()
        end, expected, silent_at = begin + counting.seconds, 0, begin + SILENT_S
        while (now := time.monotonic()) < end:
            if now >= ask_at:
                ask_at, expected = ask_at + ASK_EVERY_S, expected + self._ask()
            if now >= silent_at:
                silent_at = end
                if not counting.messages:
                    silent()
            self._take(counting, begin, min(end, ask_at) - now)
        expected += self._ask()
        while self.answers < expected:
            if time.monotonic() > end + ANSWER_S:
                raise self.connection.lost(f"the broker did not answer for {ANSWER_S:.0f} s")
            self._take(counting, begin, ASK_EVERY_S)

    def _ask(self) -> int:
        """Ask for the lengths of both queues; return the number of answers to expect."""
        queues = (self.queue, self.overflow)
        for queue in queues:
            declare = codec.queue_declare(queue, passive=True)
            self.connection.send(codec.method(CHANNEL, codec.QUEUE_DECLARE, declare))
        return len(queues)

    def _take(self, counting: Counting, begin: float, timeout_s: float) -> None:
        """Wait for ``timeout_s`` at most, and handle all frames that have come whole."""
        connection = self.connection
        select.select([connection], [], [], max(0.0, timeout_s))
        connection.keep_alive()
        if not connection.fill():
            return
        passed_s = time.monotonic() - begin
        for header, messages in Counter(self._headers()).items():  # many headers are equal
            if int.from_bytes(header[FLAGS]) != HEADERS_ONLY:
                raise ValueError("a message came that is none of the firehose's")
            length = int.from_bytes(header[SIZE])
            counting.count(passed_s, header[TABLE], length, messages)

    def _headers(self) -> Iterator[bytes]:
        """Yield the content header of each message that has come; handle methods meanwhile."""
        connection, at = self.connection, 0
        buffer, have = connection.view, connection.have
        while have - at >= codec.FRAME.size:
            kind, channel, size = codec.FRAME.unpack_from(buffer, at)
            start, end = at + codec.FRAME.size, at + size + codec.OVERHEAD
            if end > have:
                break
            if kind == codec.CONTENT_HEADER:
                yield bytes(buffer[start : end - 1])
            elif kind == codec.METHOD and not connection.buffer.startswith(DELIVERED, start):
                self._answer(channel, bytes(buffer[start : end - 1]))
            at = end
        connection.consumed(at)

    def _answer(self, channel: int, payload: bytes) -> None:
        """Note the length of a queue; leave any other method to the connection."""
        if not payload.startswith(DECLARED):
            self.connection.attend(channel, payload)
            return
        reader = Reader(payload)
        queue, waiting = reader.short().decode(), reader.number("I")
        self.answers += 1
        if queue == self.overflow:
            self.dropped |= waiting > 0
        else:
            self.most_waiting = max(self.most_waiting, waiting)
