"""A server whose threads consume requests from a queue each, and reply to them."""

import sys
import threading
import time

from mqperf.onhost.load.record import Record
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.closed_loop import CHANNEL, Process, closed, connected
from mqperf_amqp_0_9_1.onhost.codec import Properties
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.requests.inbound import Inbound
from mqperf_amqp_0_9_1.onhost.requests.orders import Publisher, Requests, begun_of, consume
from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.closed_loop import AFTER_FAILURE_S
from mqperf_numbered.onhost.roles import COUNT_EVERY_S

IDLE_S = 0.05


class Responder(Process[Requests]):
    """A server; ``took_s`` is the sum of all requests' latencies, ``ended`` stops its threads."""

    def __init__(self, orders: Requests) -> None:
        super().__init__(orders)
        self.record = Record(self.header, ["received"])
        self.took_s, self.ended = 0.0, False
        self._lock = threading.Lock()

    def run(self) -> None:
        """Reply until told to stop; exit with the broker's message if it refuses at first."""
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
        declare = codec.queue_declare(queue, self.orders.queue_arguments, durable=True)
        connection.call(CHANNEL, codec.QUEUE_DECLARE, declare)
        consume(connection, queue, no_ack=False)
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
                time.sleep(AFTER_FAILURE_S)
        closed(connection)

    def _serve(self, connection: Connection) -> None:
        """Reply to requests until told to stop; raises ``Lost`` or ``Refused``."""
        inbound, publisher = Inbound(connection), Publisher(connection, self.orders.reply_bytes)
        while not self.ended:
            for method, header in inbound.messages(IDLE_S):
                self._reply(publisher, method, header)

    def _reply(self, publisher: Publisher, method: bytes, header: bytes) -> None:
        """Record, answer and acknowledge a request; messages of other loads are discarded."""
        now = time.time()
        key, address = codec.correlation_id(header), codec.reply_to(header)
        if (begun := begun_of(self.orders, key)) is None or address is None:
            sys.stdout.write("a message is no request of this load\n")
        else:
            with self._lock:
                self.record.add("received", begun, now)
                self.took_s += now - begun
            publisher.publish(address, Properties(correlation_id=key), mandatory=False)
        ack = codec.ack(codec.delivery_tag(method))
        publisher.connection.send(codec.method(CHANNEL, codec.ACK, ack))

    def _say_count(self) -> None:
        with self._lock:
            counts = f"{self.record.received} {self.took_s:.6f} {time.monotonic():.6f}"
        self.control.say("count", counts)
