"""The stressor and pika on one RabbitMQ: each understands the messages of the other."""

from collections.abc import Iterator
from contextlib import contextmanager

import pika
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_rabbitmq import PikaChannel, channel, master_of

from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.deliveries import Assembler
from mqperf_numbered.onhost.broker import Broker, Lost, Refused

pytestmark = pytest.mark.needs_rabbitmq

KINDS = ("direct", "topic", "fanout", "headers")


@pytest.fixture(scope="module")
def broker(rabbitmq: PrivateCluster) -> Broker:
    return master_of(rabbitmq)


@pytest.fixture(scope="module")
def theirs(broker: Broker) -> Iterator[PikaChannel]:
    with channel(broker) as pika_channel:
        yield pika_channel


@contextmanager
def opened(broker: Broker) -> Iterator[Connection]:
    connection = Connection(broker)
    connection.open_channel(1)
    yield connection
    connection.close(5.0)


TEXT = st.text(max_size=30)
PROPERTIES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("content_type", "content_encoding", "correlation_id", "reply_to"), TEXT),
        **dict.fromkeys(("message_id", "type", "app_id"), TEXT),
        "headers": st.dictionaries(
            TEXT.map(lambda name: f"x{name}"), TEXT | st.integers(-(2**40), 2**40), max_size=3
        ),
        "delivery_mode": st.sampled_from([1, 2]),
        "priority": st.integers(0, 9),
        "timestamp": st.integers(0, 2**33),
    },
)
BOUND: dict[str, tuple[str, dict[str, str]]] = {
    "direct": ("a.key", {}),
    "topic": ("*.key", {}),
    "fanout": ("", {}),
    "headers": ("", {"x-match": "all", "thread": "1"}),
}
BODIES = st.binary(max_size=300) | st.integers(131_000, 140_000).map(lambda n: b"m" * n)


@settings(max_examples=40)
@given(st.sampled_from(KINDS), PROPERTIES, BODIES)
def test_what_one_publishes_the_other_receives(
    broker: Broker,
    theirs: PikaChannel,
    kind: str,
    fields: dict[str, object],
    body: bytes,
) -> None:
    """In both directions, byte for byte, with every exchange type and every property."""
    fields = {**fields, "headers": {**fields.get("headers", {}), "thread": "1"}}  # type: ignore[dict-item]
    key, arguments = BOUND[kind]
    theirs.exchange_declare(kind, kind, auto_delete=False)
    queue = theirs.queue_declare("", exclusive=False, auto_delete=False).method.queue
    theirs.queue_bind(queue, kind, key, arguments)
    encoded = codec.Properties(**fields).encode()  # type: ignore[arg-type]
    try:
        with opened(broker) as ours:
            sending = codec.publish(kind, "a.key", mandatory=False)
            ours.send(
                codec.method(1, codec.PUBLISH, sending)
                + codec.content(1, encoded, body, ours.frame_max)
            )
        _, properties, got = theirs.basic_get(queue, auto_ack=True)
        assert got == body
        assert {name: getattr(properties, name) for name in fields} == fields
        theirs.basic_publish(kind, "a.key", body, pika.BasicProperties(**fields))
        with opened(broker) as ours:
            header, back = taken(ours, queue)
        assert back == body
        assert pika.BasicProperties().decode(header[12:]) == pika.BasicProperties(**fields)
    finally:
        theirs.queue_delete(queue)


def taken(ours: Connection, queue: str) -> tuple[bytes, bytes]:
    """Header and body of the first message of a queue."""
    wanted = b"\0\0" + codec.short(queue) + codec.short("c") + b"\x02" + codec.table({})
    ours.call(1, codec.CONSUME, wanted)
    assembler = Assembler()
    while True:
        while (frame := ours.frame(0)) is None:
            ours.fill()
        kind, channel, payload = frame
        ours.consumed(len(payload) + codec.OVERHEAD)
        if kind != codec.HEARTBEAT_TYPE and (whole := assembler.take(kind, channel, payload)):
            return whole[1], whole[2]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"password": "wrong"}, Refused, "ACCESS_REFUSED"),
        ({"vhost": "nowhere"}, Refused, "vhost nowhere not found"),
        ({"addresses": ("127.0.0.1:1",)}, Lost, "127.0.0.1:1: Connection refused"),
    ],
)
def test_a_refused_connection_is_reported_in_one_line(
    broker: Broker, changes: dict[str, object], error: type[Exception], words: str
) -> None:
    """The error has the message of the broker, or the address."""
    fields = {name: getattr(broker, name) for name in ("addresses", "user", "password", "vhost")}
    with pytest.raises(error, match=words):
        Connection(Broker(**{**fields, **changes}))
