"""A client whose threads send a request each, and wait for its reply."""

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
POLL_S = 1.0


class Requester(Client[Requests]):
    """Sends requests, which within the process are identified by the instant of their begin."""

    noun = "request"

    def requesting(self, connection: Connection, queue: str) -> Callable[[float], None]:
        """Return a function that sends a request, and waits for its reply."""
        publisher = Publisher(connection, self.orders.payload_bytes)
        inbound = Inbound(connection)
        address = DIRECT if self.orders.reply_to == "direct" else _reply_queue(connection)
        consume(connection, address, no_ack=True)

        def request(begun: float) -> None:
            key = key_of(self.orders, begun)
            properties = Properties(correlation_id=key, reply_to=address)
            publisher.publish(queue, properties, mandatory=True)
            self._await(inbound, key)

        return request

    def _await(self, inbound: Inbound, key: bytes) -> None:
        deadline = time.monotonic() + self.orders.timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            for _, header in inbound.messages(min(POLL_S, left_s)):
                if codec.correlation_id(header) == key:
                    return
        raise Lost(f"no reply within {self.orders.timeout_s:g} s")


def _reply_queue(connection: Connection) -> bytes:
    """Declare an exclusive queue for replies; return the name that the broker gives it."""
    declare = codec.queue_declare("", exclusive=True, auto_delete=True)
    return connection.call(CHANNEL, codec.QUEUE_DECLARE, declare).short()
