"""python-qpid-proton as sender or receiver, run in the environment of the simulator.

    receive ADDRESS LINK COUNT [OUTCOMES]   prints each message as a JSON line
    send ADDRESS LINK FILE                  sends the bodies in FILE (JSON, in hex)

OUTCOMES are given to the messages in turn: accepted, released, modified, rejected.
"""

import hashlib
import json
import sys
from pathlib import Path

from proton import Delivery, Message
from proton.handlers import MessagingHandler
from proton.reactor import Container


def say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


class Receive(MessagingHandler):  # type: ignore[misc]
    def __init__(self, address: str, link: str, count: str, outcomes: str = "accepted") -> None:
        super().__init__(prefetch=100, auto_accept=False)
        self.url, self.link, self.left = address, link, int(count)
        self.outcomes = outcomes.split(",")
        self.seen = 0

    def on_start(self, event: object) -> None:
        connection = event.container.connect(self.url, reconnect=False)  # type: ignore[attr-defined]
        event.container.create_receiver(connection, self.link)  # type: ignore[attr-defined]

    def on_link_opened(self, _event: object) -> None:
        say(ready=True)

    def on_message(self, event: object) -> None:
        if not self.left:
            return  # in flight when the last one arrived
        message, delivery = event.message, event.delivery  # type: ignore[attr-defined]
        outcome = self.outcomes[self.seen % len(self.outcomes)]
        self.seen += 1
        body = bytes(message.body)
        say(
            stamp=body[:32].hex(),
            sha256=hashlib.sha256(body).hexdigest(),
            size=len(body),
            durable=message.durable,
            priority=message.priority,
            ttl=message.ttl,
            settled=delivery.settled,
            outcome=outcome,
        )
        delivery.update(getattr(Delivery, outcome.upper()))
        delivery.settle()
        self.left -= 1
        if not self.left:
            event.connection.close()  # type: ignore[attr-defined]


class Send(MessagingHandler):  # type: ignore[misc]
    def __init__(self, address: str, link: str, file: str) -> None:
        super().__init__()
        self.url, self.link = address, link
        self.bodies = [bytes.fromhex(body) for body in json.loads(Path(file).read_text())]
        self.sent = self.accepted = 0

    def on_start(self, event: object) -> None:
        connection = event.container.connect(self.url, reconnect=False)  # type: ignore[attr-defined]
        event.container.create_sender(connection, self.link)  # type: ignore[attr-defined]

    def on_sendable(self, event: object) -> None:
        while event.sender.credit and self.sent < len(self.bodies):  # type: ignore[attr-defined]
            # inferred: a data section, otherwise a value of type bytes
            message = Message(body=self.bodies[self.sent], inferred=self.sent % 3 == 0)
            event.sender.send(message)  # type: ignore[attr-defined]
            self.sent += 1

    def on_accepted(self, event: object) -> None:
        self.accepted += 1
        if self.accepted == len(self.bodies):
            say(accepted=self.accepted)
            event.connection.close()  # type: ignore[attr-defined]


KINDS = {"receive": Receive, "send": Send}

if __name__ == "__main__":
    Container(KINDS[sys.argv[1]](*sys.argv[2:])).run()
