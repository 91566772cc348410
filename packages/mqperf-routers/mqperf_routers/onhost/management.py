"""Run as ``python -m ... HOST:PORT ENTITY``: what a router tells of its entities, as JSON.

By the draft of AMQP Management that routers implement: a request to ``$management``, and its reply
at an address that the router makes for us.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from mqperf_amqp_1_0.onhost import codec, links
from mqperf_amqp_1_0.onhost.codec import (
    Described,
    composite,
    descriptor,
    mapping,
    string,
    uint,
)
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_numbered.onhost.broker import Broker, Lost, Refused

NODE = "$management"
DONE = 200


def main() -> None:
    """Ask, print and go; ends with the router's words if it refuses."""
    address, kind = sys.argv[1:]
    try:
        connection = Connection(Broker((address,), "", "", ""))
        reply = Management(connection).entities(kind)
        connection.close(1.0)
    except (Lost, Refused, ValueError) as error:
        sys.exit(str(error))
    print(json.dumps([dict(zip(reply.names, row, strict=True)) for row in reply.rows], default=str))


class Entities(NamedTuple):
    """What a router tells of its entities of a kind: a row each, of attributes by these names."""

    names: list[str]
    rows: list[list[Any]]


class Management:
    """Links to the management of a router and back, for one question after the other."""

    def __init__(self, connection: Connection) -> None:
        """Attach both; raises ``Refused`` or ``Lost``."""
        self.connection = connection
        self.asked = 0
        replies = links.Wanted(0, None, sends=False, settled=True)
        self.reply_to = links.attached(connection, replies, lambda _: None).field(5).field(0)
        requests = links.Wanted(1, NODE, sends=True, settled=True)
        links.attached(connection, requests, lambda _: None)

    def entities(self, kind: str, names: Sequence[str] = ()) -> Entities:
        """All entities of a kind, with these attributes, or all.

        Raises ``Refused``, ``Lost``, or ``ValueError`` for a reply that cannot be read.
        """
        connection = self.connection
        connection.send(links.flow(connection, 0, self.asked, 1))
        connection.send(self._request(kind, names))
        self.asked += 1
        connection.outgoing += 1
        content = b""
        while True:
            transfer, payload = connection.expect(codec.TRANSFER)
            connection.incoming += 1
            content += payload
            if not transfer.field(5):
                return _entities(content)

    def _request(self, kind: str, names: Sequence[str]) -> bytes:
        """A query of an entity type, as a frame."""
        identity = string(str(self.asked))
        fields = codec.NULL, codec.NULL, codec.NULL, codec.NULL, string(self.reply_to), identity
        properties = {
            "operation": string("QUERY"),
            "type": string("org.amqp.management"),
            "name": string("self"),
            "entityType": string(kind),
        }
        wanted = codec.listed([string(name) for name in names])
        message = (
            composite(codec.PROPERTIES, *fields)
            + (descriptor(codec.APPLICATION_PROPERTIES) + mapping(properties))
            + (descriptor(codec.VALUE) + mapping({"attributeNames": wanted}))
        )
        tag = codec.binary(b"%d" % self.asked)
        transfer = uint(1), uint(self.asked), tag, uint(0), codec.TRUE
        return codec.frame(composite(codec.TRANSFER, *transfer) + message)


def _entities(content: bytes) -> Entities:
    """What a reply says."""
    sections: dict[int, Described] = {}
    at = 0
    while at < len(content):
        section, at = codec.value(content, at)
        sections[section.code] = section
    properties = sections[codec.APPLICATION_PROPERTIES].value
    if properties.get("statusCode") != DONE:
        raise Refused(
            f"{NODE}: {properties.get('statusCode')} {properties.get('statusDescription')}"
        )
    body = sections[codec.VALUE].value
    return Entities(body["attributeNames"], body["results"])


if __name__ == "__main__":
    main()
