"""A client whose threads send a request, and wait for its reply."""

import time
from collections.abc import Callable

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.closed_loop import CHANNEL, Client
from mqperf_amqp_0_9_1.onhost.codec import Properties
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.requests.inbound import Inbound
from mqperf_amqp_0_9_1.onhost.requests.orders import Publisher, Requests, consume, key_of
from mqperf_numbered.onhost.broker import Lost

DIRECT = b"amq.rabbitmq.reply-to"
LOOK_S = 1.0


class Requester(Client[Requests]):
    """A request is told from others of its process by when it was begun."""

    noun = "request"

    def asking(self, connection: Connection, queue: str) -> Callable[[float], None]:
        """What sends a request, and waits for its reply."""
        publisher = Publisher(connection, self.orders.payload_bytes)
        inbound = Inbound(connection)
        address = DIRECT if self.orders.reply_to == "direct" else _declared(connection)
        consume(connection, address, no_ack=True)

        def ask(begun: float) -> None:
            key = key_of(self.orders, begun)
            properties = Properties(correlation_id=key, reply_to=address)
            publisher.publish(queue, properties, mandatory=True)
            self._await(inbound, key)

        return ask

    def _await(self, inbound: Inbound, key: bytes) -> None:
        limit = time.monotonic() + self.orders.timeout_s
        while (left_s := limit - time.monotonic()) > 0:
            for _, header in inbound.messages(min(LOOK_S, left_s)):
                if codec.correlation_id(header) == key:
                    return
        raise Lost(f"no reply within {self.orders.timeout_s:g} s")


def _declared(connection: Connection) -> bytes:
    """The name that the broker gives a queue of this connection alone."""
    wanted = codec.queue_declare("", exclusive=True, auto_delete=True)
    return connection.call(CHANNEL, codec.QUEUE_DECLARE, wanted).short()
