"""Streams of JetStream: how each is made, and how it is consumed."""

from mqperf_nats.onhost import codec
from mqperf_nats.onhost.connection import CONSUMER, Connection
from mqperf_nats.onhost.orders import Orders


def make(connection: Connection, orders: Orders, subject: str) -> None:
    """Make the stream of a subject unless it is there, or there are to be none."""
    if orders.stream is not None:
        values = {"name": subject, "subjects": [subject], **orders.stream}
        connection.call("STREAM.CREATE", subject, values)


def consuming(connection: Connection, orders: Orders, subject: str, first: int) -> bytes:
    """What asks for the messages of a stream from that one on: a consumer of this connection."""
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
    """Which message of its stream one is, by the subject to which it is acknowledged."""
    return int(reply.split(b".")[5])
