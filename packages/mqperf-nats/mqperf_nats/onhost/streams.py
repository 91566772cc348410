"""Creates streams of JetStream, and consumers of them."""

from mqperf_nats.onhost import codec
from mqperf_nats.onhost.connection import CONSUMER, Connection
from mqperf_nats.onhost.orders import Orders


def make(connection: Connection, orders: Orders, subject: str) -> None:
    """Create the stream of a subject if it is missing; do nothing for core NATS."""
    if orders.stream is not None:
        values = {"name": subject, "subjects": [subject], **orders.stream}
        connection.call("STREAM.CREATE", subject, values)


def consuming(connection: Connection, orders: Orders, subject: str, first: int) -> bytes:
    """Encode the request for a consumer of this connection, from message ``first`` on."""
    name = connection.inbox.rpartition(".")[2]
    config = {
        "durable_name": name,
        "deliver_subject": connection.deliveries,
        "ack_policy": "explicit" if orders.acks == "each" else "all",
        "max_ack_pending": orders.prefetch,
        "deliver_policy": "by_start_sequence",
        "opt_start_seq": first,
    }
    values = {"stream_name": subject, "config": config}
    reply = b"%s.%s" % (connection.inbox.encode(), CONSUMER)
    return codec.request("CONSUMER.DURABLE.CREATE", f"{subject}.{name}", values, reply)


def number(reply: bytes) -> int:
    """Return the number of a message in its stream, from its reply subject."""
    return int(reply.split(b".")[5])
