"""RabbitMQ's firehose: a copy of every message that is published to a virtual host, counted.

The broker copies messages to an exchange while tracing is on, which its administrator switches on.
They come through a queue of our own that ends with our connection, whatever becomes of us.  What it
has no room for, the broker drops into a second one: so that is noticed.
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
"""Messages that wait to be captured, for which the broker has to have room."""

CHANNEL = 1
DELIVERED, DECLARED = (
    struct.pack(">HH", *which) for which in (codec.DELIVER, codec.QUEUE_DECLARE_OK)
)

HEADERS_ONLY = 0x2000
"""The flags of a content header that has a table of headers and nothing else."""

SIZE, FLAGS, TABLE = slice(4, 12), slice(12, 14), slice(14, None)
"""Where they stand in it."""

ASK_EVERY_S = 1.0
SILENT_S = 5.0
ANSWER_S = 10.0


class Firehose:
    """A connection that gets the copies, and what the broker says of the two queues."""

    def __init__(self, broker: Broker) -> None:
        """Connect, and begin to get copies; raises ``SystemFault``."""
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
        """Count messages for as long as is asked for; ``silent`` is called if none comes for 5 s.

        Raises ``SystemFault`` where the connection is lost, or what comes is no firehose.
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
        room = {"x-max-length": MOST_WAITING, "x-max-length-bytes": MOST_WAITING_BYTES}
        drop = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": self.overflow}
        self._call_declare(self.overflow, {"x-max-length": 1})
        self._call_declare(self.queue, {**room, **drop})
        bound = codec.queue_bind(self.queue, EXCHANGE, PUBLISHED)
        self.connection.call(CHANNEL, codec.QUEUE_BIND, bound)
        wanted = codec.consume(self.queue, no_ack=True)
        self.connection.send(codec.method(CHANNEL, codec.CONSUME, wanted))

    def _call_declare(self, queue: str, arguments: Table) -> None:
        declared = codec.queue_declare(queue, arguments, exclusive=True)
        self.connection.call(CHANNEL, codec.QUEUE_DECLARE, declared)

    def _capture(self, counting: Counting, silent: Callable[[], None]) -> None:
        begin = ask_at = time.monotonic()
        end, asked, look_at = begin + counting.seconds, 0, begin + SILENT_S
        while (now := time.monotonic()) < end:
            if now >= ask_at:
                ask_at, asked = ask_at + ASK_EVERY_S, asked + self._ask()
            if now >= look_at:
                look_at = end
                if not counting.messages:
                    silent()
            self._take(counting, begin, min(end, ask_at) - now)
        asked += self._ask()
        while self.answers < asked:
            if time.monotonic() > end + ANSWER_S:
                raise self.connection.lost(f"the broker did not answer for {ANSWER_S:.0f} s")
            self._take(counting, begin, ASK_EVERY_S)

    def _ask(self) -> int:
        """Ask how many messages are in both queues; gives how many answers are to come."""
        queues = (self.queue, self.overflow)
        for queue in queues:
            asked = codec.queue_declare(queue, passive=True)
            self.connection.send(codec.method(CHANNEL, codec.QUEUE_DECLARE, asked))
        return len(queues)

    def _take(self, counting: Counting, begin: float, timeout_s: float) -> None:
        """Wait so long at most, and deal with all that has come whole."""
        connection = self.connection
        select.select([connection], [], [], max(0.0, timeout_s))
        connection.keep_alive()
        if not connection.fill():
            return
        passed_s = time.monotonic() - begin
        for header, messages in Counter(self._headers()).items():  # many are alike
            if int.from_bytes(header[FLAGS]) != HEADERS_ONLY:
                raise ValueError("a message came that is none of the firehose's")
            length = int.from_bytes(header[SIZE])
            counting.count(passed_s, header[TABLE], length, messages)

    def _headers(self) -> Iterator[bytes]:
        """The content headers that have come whole, one of each message; methods are answered."""
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
        """How many messages a queue has; anything else is for the connection."""
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
