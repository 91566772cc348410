"""Run as ``python -m ... HOST:PORT ENTITY``: print a router's entities of a type as JSON.

It follows the draft of AMQP Management that routers implement: a request to ``$management``, and
its reply at a dynamic address that the router creates.
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
    """Query the entities and print them; exit with the router's error message if it refuses."""
    address, kind = sys.argv[1:]
    try:
        connection = Connection(Broker((address,), "", "", ""))
        reply = Management(connection).entities(kind)
        connection.close(1.0)
    except (Lost, Refused, ValueError) as error:
        sys.exit(str(error))
    print(json.dumps([dict(zip(reply.names, row, strict=True)) for row in reply.rows], default=str))


class Entities(NamedTuple):
    """The entities of a kind: a row each, with the values of the attributes in ``names``."""

    names: list[str]
    rows: list[list[Any]]


class Management:
    """Links to and from the management node of a router, for one request at a time."""

    def __init__(self, connection: Connection) -> None:
        """Attach both links; raise ``Refused`` or ``Lost``."""
        self.connection = connection
        self.requests = 0
        replies = links.Wanted(0, None, sends=False, settled=True)
        self.reply_to = links.attached(connection, replies, lambda _: None).field(5).field(0)
        requests = links.Wanted(1, NODE, sends=True, settled=True)
        links.attached(connection, requests, lambda _: None)

    def entities(self, kind: str, names: Sequence[str] = ()) -> Entities:
        """Query all entities of a kind, with these attributes, or all if none are named.

        Raise ``Refused``, ``Lost``, or ``ValueError`` for a reply that cannot be read.
        """
        connection = self.connection
        connection.send(links.flow(connection, 0, self.requests, 1))
        connection.send(self._request(kind, names))
        self.requests += 1
        connection.outgoing += 1
        content = b""
        while True:
            transfer, payload = connection.expect(codec.TRANSFER)
            connection.incoming += 1
            content += payload
            if not transfer.field(5):
                return _decoded(content)

    def _request(self, kind: str, names: Sequence[str]) -> bytes:
        """Return the frame of a query for an entity type."""
        identity = string(str(self.requests))
        fields = codec.NULL, codec.NULL, codec.NULL, codec.NULL, string(self.reply_to), identity
        properties = {
            "operation": string("QUERY"),
            "type": string("org.amqp.management"),
            "name": string("self"),
            "entityType": string(kind),
        }
        attributes = codec.listed([string(name) for name in names])
        message = (
            composite(codec.PROPERTIES, *fields)
            + (descriptor(codec.APPLICATION_PROPERTIES) + mapping(properties))
            + (descriptor(codec.VALUE) + mapping({"attributeNames": attributes}))
        )
        tag = codec.binary(b"%d" % self.requests)
        transfer = uint(1), uint(self.requests), tag, uint(0), codec.TRUE
        return codec.frame(composite(codec.TRANSFER, *transfer) + message)


def _decoded(content: bytes) -> Entities:
    """Decode the message of a reply; raise ``Refused`` for an error status."""
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
