"""A server whose threads take requests from a queue each, and reply to them."""

import sys
import threading
import time
from contextlib import suppress

from mqperf.onhost.load.control import Control
from mqperf.onhost.load.record import Record
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.closed_loop import CHANNEL, closed, connected, header_of
from mqperf_amqp_0_9_1.onhost.codec import Properties, short, table
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.requests.inbound import Inbound
from mqperf_amqp_0_9_1.onhost.requests.orders import Publisher, Requests, consume, tag_of
from mqperf_numbered.onhost.broker import Lost, Refused

DURABLE = 0b10
LAST = b"\0"
"""An acknowledgement of one message alone."""

IDLE_S = 0.05
COUNT_EVERY_S = 0.25
AGAIN_S = 0.1
"""A thread waits so long before it connects again."""


class Responder:
    """One process, from its first connection to the record that it leaves."""

    def __init__(self, orders: Requests) -> None:
        self.orders = orders
        self.control = Control(orders.control, orders.label)
        self.control.heed_signals()
        self.record = Record(header_of(orders), ["received"])
        self.took_s, self.ended = 0.0, False
        self._lock = threading.Lock()

    def run(self) -> None:
        """Reply until told to stop; ends the process with the words of a broker that refuses."""
        try:
            first = [self._consuming(queue) for queue in self.orders.queues]
        except (Lost, Refused) as error:
            sys.exit(str(error))
        threads = [
            threading.Thread(target=self._thread, args=(queue, connection))
            for queue, connection in zip(self.orders.queues, first, strict=True)
        ]
        for thread in threads:
            thread.start()
        self.control.say("ready")
        while not self.control.told_to_stop:
            self._say_count()
            time.sleep(COUNT_EVERY_S)
        self.ended = True
        for thread in threads:
            thread.join()
        self._say_count()

    def _consuming(self, queue: str) -> Connection:
        connection = connected(self.orders)
        wanted = b"\0\0" + short(queue) + bytes([DURABLE]) + table(self.orders.queue_arguments)
        connection.call(CHANNEL, codec.QUEUE_DECLARE, wanted, codec.QUEUE_DECLARE_OK)
        consume(connection, queue, automatic=False)
        return connection

    def _thread(self, queue: str, first: Connection) -> None:
        connection: Connection | None = first
        while not self.ended:
            try:
                if connection is None:
                    connection = self._consuming(queue)
                self._serve(connection)
            except (Lost, Refused) as error:
                sys.stdout.write(f"{queue}: {error}\n")
                closed(connection)
                connection = None
                time.sleep(AGAIN_S)
        closed(connection)

    def _serve(self, connection: Connection) -> None:
        """Reply to what comes until told to stop; raises ``Lost`` or ``Refused``."""
        inbound, publisher = Inbound(connection), Publisher(connection, self.orders.reply_bytes)
        while not self.ended:
            for method, header in inbound.messages(IDLE_S):
                self._reply(publisher, method, header)

    def _reply(self, publisher: Publisher, method: bytes, header: bytes) -> None:
        """Record a request, reply to it, and acknowledge it; a message of others is thrown away."""
        now = time.time()
        key, address = codec.correlation_id(header), codec.reply_to(header)
        if (begun := _begun(key)) is None or address is None:
            sys.stdout.write("a message is no request of this load\n")
        else:
            with self._lock:
                self.record.add("received", begun, now)
                self.took_s += now - begun
            publisher.publish(address, Properties(correlation_id=key), mandatory=False)
        acknowledged = codec.method(CHANNEL, codec.ACK, tag_of(method) + LAST)
        publisher.connection.send(acknowledged)

    def _say_count(self) -> None:
        with self._lock:
            counts = f"{self.record.received} {self.took_s:.6f} {time.monotonic():.6f}"
        self.control.say("count", counts)


def _begun(key: bytes | None) -> float | None:
    """When a request with that correlation-id was begun; None for what is none."""
    with suppress(ValueError):
        return None if key is None else float(key)
    return None
