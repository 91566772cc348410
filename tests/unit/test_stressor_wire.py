"""AMQP 0-9-1 as bytes: pika reads what is sent, and deliveries are read in any fragmentation."""

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pika import BasicProperties, frame, spec
from stamped import pieces, stamped

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.consumer import acks, rejects
from mqperf_amqp_0_9_1.onhost.deliveries import FROM, Batch, Deliveries, form_of
from mqperf_amqp_0_9_1.onhost.publisher import LINGER_S, Channels
from mqperf_amqp_0_9_1.onhost.send_queue import SendQueue
from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.outbox import Outbox
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.waiting import Waiting

if TYPE_CHECKING:
    from mqperf_amqp_0_9_1.onhost.orders import Orders
    from mqperf_amqp_0_9_1.onhost.publisher_thread import PublisherThread

SHORT = st.text(max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SHORT, inner, max_size=3),
    max_leaves=6,
)
PROPERTIES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(
            ("content_type", "content_encoding", "correlation_id", "reply_to", "expiration"), SHORT
        ),
        **dict.fromkeys(("message_id", "type", "user_id", "app_id", "cluster_id"), SHORT),
        "headers": st.dictionaries(SHORT, VALUES, max_size=4),
        "delivery_mode": st.sampled_from([1, 2]),
        "priority": st.integers(0, 9),
        "timestamp": st.integers(0, 2**40),
    },
)


class Bare(Connection):
    """A connection without its handshake, over a pair of sockets."""

    def __init__(self, ours: socket.socket) -> None:
        Outbox.__init__(self)
        self.socket, self.address = ours, "here"
        self.empty(1 << 12)
        self.frame_max = 4096
        self.blocked = False
        self.closes_at = None


def frames(content: bytes) -> Iterator[frame.Frame]:
    """All frames that pika decodes from the bytes."""
    while content:
        length, decoded = frame.decode_frame(content)
        assert decoded is not None
        yield decoded
        content = content[length:]


@given(PROPERTIES, st.binary(max_size=9000), st.sampled_from([4096, 131_072]))
def test_pika_reads_what_is_sent(fields: dict[str, object], body: bytes, frame_max: int) -> None:
    """Every property, and bodies of any length in frames of at most the maximum size."""
    method = codec.method(3, codec.PUBLISH, codec.publish("ex", "key", mandatory=True))
    properties = codec.Properties(**fields)  # type: ignore[arg-type]
    sent = method + codec.content(3, properties.encode(), body, frame_max)
    begun, header, *parts = frames(sent)
    assert (begun.method.exchange, begun.method.routing_key) == ("ex", "key")
    assert begun.method.mandatory
    assert {name: getattr(header.properties, name) for name in fields} == fields
    assert header.body_size == len(body)
    assert b"".join(part.fragment for part in parts) == body
    assert all(len(part.fragment) <= frame_max - 8 for part in parts)


@pytest.mark.takes_long
@pytest.mark.parametrize("name", ["message_id", "correlation_id", "reply_to"])
@given(value=st.binary(max_size=255), fields=PROPERTIES)
def test_a_text_is_found_among_all_other_properties(
    name: str, value: bytes, fields: dict[str, object]
) -> None:
    """It is found even if it is not valid text, and not found if missing."""
    find = getattr(codec, name)
    further = {other: each for other, each in fields.items() if other != name}
    for given_, expected in ({**further, name: value}, value), (further, None):
        properties = codec.Properties(**given_)  # type: ignore[arg-type]
        header = struct.pack(">HHQ", 60, 0, 0) + properties.encode()
        assert find(header) == expected


def delivery(  # noqa: PLR0913
    channel: int, tag: int, stamp: bytes, size: int, *, in_body: bool, again: bool = False
) -> bytes:
    """A delivery encoded by pika."""
    properties = BasicProperties(headers={"thread": "1"}, priority=3)
    encoded = b"".join(properties.encode())
    body = bytes(size)
    if in_body:
        body = stamp + body[: size - len(stamp)]
    else:
        encoded = codec.Properties(headers={"thread": "1"}, message_id=stamp).encode()
    method = spec.Basic.Deliver("ctag", tag, again, "ex", "key")
    begin: bytes = frame.Method(channel, method).marshal()
    return begin + codec.content(channel, encoded, body, 4096)


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from([40, 40, 40, 40, 4088, 5000])), max_size=30
    ),
    st.lists(st.integers(1, 9000), min_size=1, max_size=40),
    st.booleans(),
)
def test_deliveries_are_read_however_they_are_cut(
    messages: list[tuple[int, int]],
    cuts: list[int],
    in_body: bool,  # noqa: FBT001
) -> None:
    """In order and once each, from several channels, of any length, between other frames."""
    stamps = stamped(len(messages))
    content = b""
    for place, (channel, size) in enumerate(messages):
        stamp = stamps[place].tobytes()
        content += delivery(channel, place + 1, stamp, size, in_body=in_body, again=place % 7 == 0)
        content += codec.HEARTBEAT if place % 5 == 0 else b""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0)
        batches: list[Batch] = []
        deliveries = Deliveries(Bare(ours), batches.append, lambda *_: None, in_body=in_body)
        for piece in pieces(content, cuts):
            theirs.sendall(piece)
            while deliveries.connection.fill():
                deliveries.read()
    tags = [int(tag) for batch in batches for tag in batch.tag]
    channels = [int(channel) for batch in batches for channel in batch.channel]
    again = [bool(each) for batch in batches for each in batch.again]
    numbers = [int(number) for batch in batches for number in batch.stamp["number"]]
    assert tags == list(range(1, len(messages) + 1))
    assert channels == [channel for channel, _ in messages]
    assert again == [place % 7 == 0 for place in range(len(messages))]
    assert numbers == list(range(len(messages)))


def read_together(content: bytes) -> list[Batch]:
    """The batches read from bytes that arrive all at once."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        batches: list[Batch] = []
        connection = Bare(ours)
        connection.empty(len(content))
        for first in range(0, len(content), 1 << 14):
            theirs.sendall(content[first : first + (1 << 14)])
            connection.fill()
        Deliveries(connection, batches.append, lambda *_: None, in_body=True).read()
    return batches


def test_deliveries_of_one_form_are_read_together() -> None:
    """From the second on, a thousand of them are one array."""
    stamps = stamped(1000)
    content = b"".join(
        delivery(1, place + 1, stamps[place].tobytes(), 256, in_body=True) for place in range(1000)
    )
    batches = read_together(content)
    assert [len(batch.tag) for batch in batches] == [1, 999]


def test_deliveries_of_several_lengths_are_read_by_their_forms() -> None:
    """The first delivery of a length is read alone, and those that follow it in a batch.

    The last one begins like longer ones, and fills its frame.
    """
    sizes = [size for _ in range(3) for size in (64, 300, 9000) for _ in range(5)]
    sizes.append(4096 - codec.OVERHEAD)
    stamps, content = stamped(len(sizes)), b""
    for place, size in enumerate(sizes):
        content += delivery(1, place + 1, stamps[place].tobytes(), size, in_body=True)
    batches = read_together(content)
    assert [len(batch.tag) for batch in batches] == [1, 4] * 3 + [5] * 6 + [1]
    numbers = [int(number) for batch in batches for number in batch.stamp["number"]]
    assert numbers == [*range(len(sizes))]


@pytest.mark.parametrize("in_body", [True, False])
def test_the_place_in_a_stream_is_read_with_the_delivery(in_body: bool) -> None:  # noqa: FBT001
    """The offset is read from the first delivery, read alone, and from all batched ones."""
    stamps, content = stamped(100), b""
    for place in range(100):
        stamp = stamps[place].tobytes()
        properties = codec.Properties(
            headers={"thread": "1", FROM: 2**40 + place}, message_id=None if in_body else stamp
        )
        body = stamp + bytes(20) if in_body else bytes(52)
        method = spec.Basic.Deliver("c", place + 1, exchange="e", routing_key="k")
        begin: bytes = frame.Method(1, method).marshal()
        content += begin + codec.content(1, properties.encode(), body, 4096)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        batches: list[Batch] = []
        connection = Bare(ours)
        connection.empty(len(content))
        theirs.sendall(content)
        while connection.have < len(content):
            connection.fill()
        Deliveries(connection, batches.append, lambda *_: None, in_body=in_body).read()
    offsets = [int(at) for batch in batches if batch.offset is not None for at in batch.offset]
    assert [len(batch.tag) for batch in batches] == [1, 99]
    assert offsets == [2**40 + place for place in range(100)]


@pytest.mark.parametrize("in_body", [True, False])
def test_a_delivery_without_a_stamp_has_no_form(in_body: bool) -> None:  # noqa: FBT001
    """Without a stamp nothing is read from its position."""
    assert form_of(delivery(1, 1, b"short", 10, in_body=in_body), in_body=in_body) is None


def batch_of(channels: list[int]) -> Batch:
    """Deliveries on these channels, with tags from 1."""
    tags = np.arange(1, len(channels) + 1)
    return Batch(np.array(channels), tags, stamped(len(channels)), tags, tags % 2 == 0, 0)


@given(st.lists(st.integers(1, 500), min_size=1, max_size=20), st.booleans())
def test_acknowledgements_are_those_that_pika_reads(
    channels: list[int],
    multiple: bool,  # noqa: FBT001
) -> None:
    """Each delivery is acknowledged, or the last one of a batch per channel."""
    batch = batch_of(channels)
    read = [
        (ack.channel_number, ack.method.delivery_tag, ack.method.multiple)
        for ack in frames(acks(batch, multiple=multiple))
    ]
    every = list(zip(channels, batch.tag.tolist(), strict=True))
    if multiple:
        following = [*channels[1:], 0]
        every = [ack for ack, then in zip(every, following, strict=True) if ack[0] != then]
    assert read == [(channel, tag, multiple) for channel, tag in every]


@given(st.lists(st.integers(1, 500), min_size=1, max_size=20))
def test_rejections_are_those_that_pika_reads(channels: list[int]) -> None:
    """Each delivery gets a ``basic.reject``, which counts for a delivery limit."""
    batch = batch_of(channels)
    some = batch.where(batch.again)
    read = [(reject.channel_number, reject.method) for reject in frames(rejects(some))]
    assert [channel for channel, _ in read] == channels[1::2]
    assert [each.delivery_tag for _, each in read] == some.tag.tolist()
    assert all(isinstance(each, spec.Basic.Reject) and each.requeue for _, each in read)
    assert some.stamp["number"].tolist() == [*range(1, len(channels), 2)]


@pytest.mark.parametrize(
    ("server", "version"),
    [
        ({"product": "RabbitMQ", "version": "3.10.8", "platform": "Erlang"}, (3, 10)),
        ({"capabilities": {"basic.nack": True}, "version": "4.1.0-rc.2"}, (4, 1)),
        ({"version": "unknown"}, ()),
        ({}, ()),
    ],
)
def test_a_broker_tells_its_version(server: dict[str, object], version: tuple[int, ...]) -> None:
    """It is found among the other server properties."""
    start = frame.Method(0, spec.Connection.Start(0, 9, server, "PLAIN", "en_US")).marshal()
    assert codec.version_of(codec.Reader(start[codec.FRAME.size :])) == version


def test_a_closed_channel_is_told_in_the_brokers_words() -> None:
    """It is a refusal, whereas a broker that stops is a lost connection."""
    words = "NOT_FOUND - no exchange 'x' in vhost '/'"
    closed = frame.Method(1, spec.Channel.Close(404, words, 60, 40)).marshal()[7:-1]
    stops = frame.Method(0, spec.Connection.Close(320, "CONNECTION_FORCED", 0, 0)).marshal()[7:-1]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(Refused, match="no exchange 'x'"):
            Bare(ours).attend(1, closed)
        with pytest.raises(Lost, match="CONNECTION_FORCED"):
            Bare(ours).attend(0, stops)


def test_without_confirms_channels_stay_open_until_the_broker_has_taken_all() -> None:
    """A quorum queue may lose messages in transit when their channel is closed."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection, diary = Bare(ours), Diary("amqp-0-9-1", "client-1", "client")
        publishers = cast("list[PublisherThread]", [None, None])
        orders = cast("Orders", SimpleNamespace(broker=None))
        managed = Channels(orders, publishers, SendQueue(), Waiting(exact=True), diary)
        managed.connection, managed.held = connection, []
        long_after = time.time_ns() + 60 * NS
        assert managed.lingers(time.time_ns())
        requests = [*frames(theirs.recv(1000))]
        assert [request.channel_number for request in requests] == [1, 2]
        for channel in (2, 1):
            assert managed.lingers(long_after)
            theirs.sendall(frame.Method(channel, spec.Confirm.SelectOk()).marshal())
            connection.fill()
            managed.read(connection)
        until_ns = managed.answered_ns + int(LINGER_S * NS)
        assert managed.lingers(until_ns - NS // 100)
        assert not managed.lingers(until_ns + NS // 100)
        managed.connection = None
        assert not managed.lingers(time.time_ns())


def test_heartbeats_do_not_prolong_closing() -> None:
    """A broker that blocks publishers answers nothing; its heartbeats do not prolong closing."""
    ours, theirs = socket.socketpair()
    limit_s, took = 20, list[bool]()

    def beat() -> None:
        limit = time.monotonic() + limit_s
        with theirs, suppress(OSError):
            while time.monotonic() < limit:
                theirs.send(codec.HEARTBEAT)
                time.sleep(0.02)

    beating = threading.Thread(target=beat, daemon=True)
    leaving = threading.Thread(target=lambda: took.append(Bare(ours).close(0.2)), daemon=True)
    beating.start()
    leaving.start()
    leaving.join(limit_s / 2)
    assert took == [False]
    beating.join()
