"""python-qpid-proton at its fastest: it streams one encoded message, and receives without decoding.

send HOST:PORT ADDRESS SECONDS BYTES    prints "ready", then how many were accepted
receive HOST:PORT ADDRESS               prints "ready", and ends with its connection
"""

import sys
import time

from proton import Delivery, Handler, Message
from proton.handlers import FlowController, Handshaker, MessagingHandler
from proton.reactor import Container

CREDIT = 1000


class Send(MessagingHandler):  # type: ignore[misc]
    """Sends for some seconds as fast as credit allows."""

    def __init__(self, url: str, address: str, seconds: str, size: str) -> None:
        super().__init__()
        self.url, self.address, self.seconds = url, address, float(seconds)
        self.content = Message(body=bytes(int(size))).encode()
        self.sent = self.accepted = 0
        self.until = 0.0

    def on_start(self, event) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, D102
        connection = event.container.connect(self.url, reconnect=False)
        event.container.create_sender(connection, self.address)

    def on_sendable(self, event) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, D102
        if not self.until:
            self.until = time.monotonic() + self.seconds
            print("ready", flush=True)
        sender = event.sender
        while sender.credit and time.monotonic() < self.until:
            sender.delivery(str(self.sent))
            sender.stream(self.content)
            sender.advance()
            self.sent += 1

    def on_accepted(self, event) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, D102
        self.accepted += 1
        if self.accepted == self.sent and time.monotonic() >= self.until:
            print(self.accepted, flush=True)
            event.connection.close()


class Receive(Handler):  # type: ignore[misc]
    """Accepts every message."""

    def __init__(self, url: str, address: str) -> None:
        super().__init__()
        self.url, self.address = url, address
        self.handlers = [Handshaker(), FlowController(CREDIT)]

    def on_reactor_init(self, event) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, D102
        connection = event.container.connect(self.url, reconnect=False, handler=self)
        event.container.create_receiver(connection, self.address, handler=self)

    def on_link_remote_open(self, _event) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, D102
        print("ready", flush=True)

    def on_delivery(self, event) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, D102
        delivery = event.delivery
        if delivery.readable and not delivery.partial:
            event.link.recv(delivery.pending)
            event.link.advance()
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()


if __name__ == "__main__":
    Container({"send": Send, "receive": Receive}[sys.argv[1]](*sys.argv[2:])).run()
