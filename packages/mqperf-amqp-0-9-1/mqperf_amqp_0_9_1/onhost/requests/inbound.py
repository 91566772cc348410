"""Receives messages on the only channel of a connection."""

from collections.abc import Iterator
from select import POLLIN, poll

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.codec import Reader
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.deliveries import Assembler
from mqperf_numbered.onhost.broker import Refused


class Inbound:
    """The messages of a connection, whose heartbeats are sent meanwhile."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.assembler, self.poll = connection, Assembler(), poll()
        self.poll.register(connection, POLLIN)

    def messages(self, within_s: float) -> Iterator[tuple[bytes, bytes]]:
        """Yield method and header of all messages that have come, or come first in that time.

        Raises ``Lost``, and ``Refused`` for a returned message, or if the broker cancels the
        consumer.
        """
        self.connection.keep_alive()
        yield from self._whole()
        if self.poll.poll(within_s * 1000) and self.connection.fill():
            yield from self._whole()

    def _whole(self) -> Iterator[tuple[bytes, bytes]]:
        while (frame := self.connection.frame(0)) is not None:
            kind, channel, payload = frame
            self.connection.consumed(len(payload) + codec.OVERHEAD)
            if kind == codec.HEARTBEAT_TYPE:
                continue
            if kind == codec.METHOD and codec.which(payload) != codec.DELIVER:
                self._other(channel, payload)
            elif (whole := self.assembler.take(kind, channel, payload)) is not None:
                yield whole[:2]

    def _other(self, channel: int, payload: bytes) -> None:
        match codec.which(payload):
            case codec.RETURN:
                reader = Reader(payload, 6)
                raise Refused(f"no queue takes the message: {reader.short().decode()}")
            case codec.CANCEL:
                raise Refused("the broker cancelled the consumer")
            case _:
                self.connection.attend(channel, payload)
