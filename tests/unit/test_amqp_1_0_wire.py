"""AMQP 1.0 as bytes: values, messages, transfers however cut, and what becomes of them."""

import socket
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stamped import pieces, stamped

from mqperf.onhost.record.tally import Tally
from mqperf_amqp_1_0.onhost import codec, links
from mqperf_amqp_1_0.onhost.codec import HIGHEST, Described, composite, uint
from mqperf_amqp_1_0.onhost.connection import WINDOW, Connection
from mqperf_amqp_1_0.onhost.dispositions import Settled, single
from mqperf_amqp_1_0.onhost.dispositions import form_of as form_of_disposition
from mqperf_amqp_1_0.onhost.orders import Orders
from mqperf_amqp_1_0.onhost.receiver import stretches
from mqperf_amqp_1_0.onhost.sender_thread import ID_AT, MOST_LENGTHS, TAG_AT, lengths, template
from mqperf_amqp_1_0.onhost.transfers import Batch, Transfers, form_of
from mqperf_amqp_1_0.onhost.unsettled import MOST, REFUSALS, Unsettled
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import Broker, Lost, Refused
from mqperf_numbered.onhost.record import Record

STATES = {
    codec.ACCEPTED: "accepted",
    codec.RELEASED: "released",
    codec.MODIFIED: "modified",
    codec.REJECTED: "rejected",
}


class Bare(Connection):
    """A connection without its handshake, over a pair of sockets."""

    def __init__(self, ours: socket.socket) -> None:
        self.socket, self.address = ours, "here"
        self.buffer, self.have, self.incoming = bytearray(1 << 12), 0, 0
        self.outgoing = self.window = 0


def orders(**changes: object) -> Orders:
    """What a process is told, as far as messages depend on it."""
    usual: dict[str, Any] = {
        "label": "client-1",
        "kind": "client",
        "test_case": "transfer",
        "run": 7,
        "control": Path(),
        "out": Path(),
        "broker": Broker((), "", "", "/"),
        "threads": (),
        "threads_per_process": 1,
        "all_threads": 1,
        "links": 1,
        "load_s": 1,
        "timeout_s": 1,
        "limits_s": (),
        "pace": None,
        "message_count": None,
        "consume_after_s": None,
        "payload_bytes": 256,
        "payload_spread": None,
        "settlement": "at-least-once",
        "credit": 10,
        "delivery": "transient",
        "priority": None,
        "ttl_ms": None,
    }
    return Orders(**{**usual, **changes})


# values


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"\x40", None),
        (b"\x41", True),
        (b"\x56\x00", False),
        (b"\x43", 0),
        (b"\x52\xff", 255),
        (b"\x70\xff\xff\xff\xff", 2**32 - 1),
        (b"\x44", 0),
        (b"\x80" + bytes(7) + b"\x01", 1),
        (b"\x54\xff", -1),
        (b"\x81" + b"\xff" * 8, -1),
        (b"\x83" + bytes(7) + b"\x02", 2),
        (b"\x60\x01\x00", 256),
        (b"\x82" + struct.pack(">d", 1.5), 1.5),
        (b"\xa0\x02\x00\x01", b"\x00\x01"),
        (b"\xb1\x00\x00\x00\x02\xc3\xa9", "é"),
        (b"\xa3\x01a", "a"),
        (b"\x45", []),
        (b"\xc0\x03\x02\x41\x40", [True, None]),
        (b"\xc1\x06\x02\xa1\x01k\x52\x07", {"k": 7}),
        (b"\xd1\x00\x00\x00\x09\x00\x00\x00\x02\xa1\x01k\x52\x07", {"k": 7}),
        (b"\xe0\x06\x02\xa3\x01a\x01b", ["a", "b"]),
        (b"\xf0\x00\x00\x00\x0a\x00\x00\x00\x02\xa3\x01a\x02bc", ["a", "bc"]),
        (b"\x00\x53\x24\x45", Described(codec.ACCEPTED, [])),
        (b"\x00\x80\x00\x00\x00\x00\x00\x00\x00\x24\x45", Described(codec.ACCEPTED, [])),
    ],
)
def test_every_encoding_of_the_standard_is_read(content: bytes, found: object) -> None:
    """To its last byte, also with something behind it."""
    assert codec.value(content + b"\x41") == (found, len(content))


@given(st.binary(max_size=60))
def test_whatever_comes_is_read_or_refused(content: bytes) -> None:
    """No other error than the one that tells so."""
    try:
        _, end = codec.value(content)
    except ValueError:
        return
    assert end > 0


# messages that are sent


@settings(deadline=None)
@given(
    st.integers(stamps.SIZE, 40_000),
    st.sampled_from([512, 4096, 65_536]),
    st.booleans(),
    st.booleans(),
    st.none() | st.integers(0, 9),
)
def test_a_message_is_cut_into_frames_that_fit(
    size: int,
    frame_max: int,
    settled: bool,  # noqa: FBT001
    durable: bool,  # noqa: FBT001
    priority: int | None,
) -> None:
    """None is too large, only the last has no more behind it, and together they are the message."""
    settlement = "pre-settled" if settled else "at-least-once"
    delivery = "persistent" if durable else "transient"
    asked = orders(payload_bytes=size, settlement=settlement, delivery=delivery, priority=priority)
    content, stamp_at, count, whole = template(asked, 3, frame_max)
    message, frames, at = b"", [], 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 4])
        assert length <= frame_max
        frame, payload = codec.performative(content[at + 8 : at + length])
        frames.append(frame)
        message += payload
        at += length
    assert (len(frames), len(message)) == (count, whole)
    assert [frame.field(5) for frame in frames] == [True] * (count - 1) + [False]
    assert {frame.field(0) for frame in frames} == {3}
    assert {frame.field(4) for frame in frames} == {settled}
    assert [frame.field(1) for frame in frames] == [0] + [None] * (count - 1)
    sections, at = {}, 0
    while at < len(message):
        section, at = codec.value(message, at)
        sections[section.code] = section
    assert len(sections[codec.DATA].value) == size
    if durable or priority is not None:
        assert sections[codec.HEADER].value[:2] == [durable, priority]
    first = content[: int.from_bytes(content[:4])]
    assert first[stamp_at:] in message
    assert sections[codec.DATA].value.startswith(first[stamp_at : stamp_at + stamps.SIZE])


@pytest.mark.parametrize(
    ("size", "spread", "least", "most", "count"),
    [(256, 0.0, 256, 256, 1), (256, 0.05, 243, 269, MOST_LENGTHS), (100, 0.05, 95, 105, 11)],
)
def test_lengths_are_spread_evenly_around_the_usual_one(
    size: int, spread: float, least: int, most: int, count: int
) -> None:
    """Up to the share of it, either way, so that their mean is the usual length."""
    sizes = lengths(orders(payload_bytes=size, payload_spread=spread))
    assert (sizes[0], sizes[-1], len({*sizes})) == (least, most, count)
    assert sum(sizes) == size * count


def test_id_and_tag_stand_where_they_are_written() -> None:
    """Whatever the handle."""
    for handle in (0, 3, 70_000):
        content = bytearray(template(orders(), handle, 65_536).frames)
        content[ID_AT : ID_AT + 4], content[TAG_AT : TAG_AT + 4] = b"\0\0\1\2", b"wxyz"
        frame, _ = codec.performative(bytes(content[8:]))
        assert (frame.field(0), frame.field(1), frame.field(2)) == (handle, 258, b"wxyz")


# transfers that come


def small(value: int) -> bytes:
    """A number as most libraries write it: as short as it goes."""
    return b"\x43" if value == 0 else b"\x52" + bytes([value]) if value < 256 else uint(value)


def transfer(handle: int, number: int, message: bytes, *, settled: bool, frame_max: int) -> bytes:
    """A message in frames of a library: each repeats id and tag, and its lists are short."""
    tag = number.to_bytes(1 + number % 3 if number < 100 else 8)
    content = b""
    room = frame_max - 60
    parts = [message[at : at + room] for at in range(0, len(message), room)]
    for place, part in enumerate(parts):
        fields = [small(handle), small(number), codec.binary(tag), b"\x43"]
        fields += [codec.boolean(settled), codec.boolean(place + 1 < len(parts))]
        listed = b"".join(fields)
        head = b"\xc0" + bytes([len(listed) + 1, len(fields)]) + listed
        content += codec.frame(codec.descriptor(codec.TRANSFER) + head + part)
    return content


def message(stamp: bytes, size: int) -> bytes:
    """A message with a section before its body."""
    body = stamp + bytes(size - len(stamp))
    return composite(codec.HEADER, codec.TRUE) + codec.descriptor(codec.DATA) + codec.binary(body)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([40, 40, 40, 300, 5000])), max_size=30),
    st.lists(st.integers(1, 9000), min_size=1, max_size=40),
    st.booleans(),
    st.sampled_from([0, 90, 245, 70_000]),
)
def test_transfers_are_read_however_they_are_cut(
    messages: list[tuple[int, int]],
    cuts: list[int],
    settled: bool,  # noqa: FBT001
    first: int,
) -> None:
    """In their order, each once: of several links and lengths, with other frames between."""
    sent = stamped(len(messages))
    content = b""
    for place, (handle, size) in enumerate(messages):
        encoded = message(sent[place].tobytes(), size)
        content += transfer(handle, first + place, encoded, settled=settled, frame_max=4096)
        content += codec.EMPTY if place % 5 == 0 else b""
        content += codec.frame(composite(codec.FLOW)) if place % 7 == 0 else b""
    others: list[Described] = []
    batches: list[Batch] = []
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0)
        transfers = Transfers(Bare(ours), batches.append, others.append)
        for piece in pieces(content, cuts):
            theirs.sendall(piece)
            while transfers.connection.fill():
                transfers.read()
    ids = [int(delivery_id) for batch in batches for delivery_id in batch.ids]
    handles = [batch.handle for batch in batches for _ in batch.ids]
    numbers = [int(number) for batch in batches for number in batch.stamp["number"]]
    assert ids == list(range(first, first + len(messages)))
    assert handles == [handle for handle, _ in messages]
    assert numbers == list(range(len(messages)))
    assert all(batch.settled == settled for batch in batches)
    assert len(others) == len(messages[::7])


def test_transfers_of_one_form_are_read_together() -> None:
    """From the second on, a thousand of them are one array."""
    sent = stamped(1000)
    content = b"".join(
        transfer(
            0, 1000 + place, message(sent[place].tobytes(), 256), settled=False, frame_max=4096
        )
        for place in range(1000)
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        batches: list[Batch] = []
        connection = Bare(ours)
        connection.buffer = bytearray(content)
        connection.have = len(content)
        Transfers(connection, batches.append, lambda _: None).read()
    assert [len(batch.ids) for batch in batches] == [1, 999]
    assert connection.incoming == 1000


def test_an_aborted_message_is_none() -> None:
    """Of one that was given up half way nothing is counted; the next is read."""
    sent = stamped(2)
    begun = transfer(0, 1, message(sent[0].tobytes(), 5000), settled=False, frame_max=4096)
    begun = begun[: int.from_bytes(begun[:4])]
    fields = [uint(0), codec.NULL, codec.NULL, codec.NULL, codec.NULL, codec.FALSE]
    aborted = codec.frame(composite(codec.TRANSFER, *fields, *[codec.NULL] * 3, codec.TRUE))
    after = transfer(0, 2, message(sent[1].tobytes(), 100), settled=False, frame_max=4096)
    content = begun + aborted + after
    ours, theirs = socket.socketpair()
    with ours, theirs:
        batches: list[Batch] = []
        connection = Bare(ours)
        connection.buffer, connection.have = bytearray(content), len(content)
        Transfers(connection, batches.append, lambda _: None).read()
    assert [int(batch.stamp["number"][0]) for batch in batches] == [1]


def test_a_transfer_without_a_stamp_has_no_form() -> None:
    """Nothing is read from where there is nothing."""
    short = codec.descriptor(codec.DATA) + codec.binary(b"short")
    assert form_of(transfer(0, 1, short, settled=False, frame_max=4096)) is None


# what becomes of messages


@given(st.sets(st.integers(0, 500)))
def test_stretches_are_the_ids(ids: set[int]) -> None:
    """All of them, in as few stretches as there can be."""
    if not ids:
        return
    ranges = stretches(np.array(sorted(ids)))
    assert [number for first, last in ranges for number in range(first, last + 1)] == sorted(ids)
    assert all(later[0] > earlier[1] + 1 for earlier, later in pairwise(ranges))


@settings(deadline=None)
@given(
    st.sampled_from([0, HIGHEST - 100, 5 * HIGHEST - 3]),
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(-20, 320), st.integers(0, 60)), min_size=1, max_size=3),
            st.sampled_from([None, *STATES]),
        ),
        max_size=40,
    ),
)
def test_the_identity_holds_whatever_receivers_say(
    first: int, dispositions: list[tuple[list[tuple[int, int]], int | None]]
) -> None:
    """accepted + released + modified + rejected + unsettled = sent: each message counts once.

    In ranges that overlap, say what was said before, or are of messages that were never sent; also
    where ids begin anew.
    """
    streams = ["sent", "error", "confirmed", *REFUSALS]
    record = Record(Tally("client-1", "client", "transfer", 1000.0, streams), ["a"])
    diary = Diary("amqp-1.0", "client-1", "client")
    unsettled = Unsettled(record, diary)
    unsettled.next = unsettled.lowest = first
    unsettled.add(0, 0, 300, 1001 * 10**9)
    became: dict[int, int | None] = {}
    for ranges, state in dispositions:
        begin, more = np.array(ranges).T
        low = (first + begin) % HIGHEST
        unsettled.dispose(Settled(low, (low + more) % HIGHEST), state, 1002 * 10**9)
        for lowest, further in ranges:
            for number in range(max(lowest, 0), min(lowest + further + 1, 300)):
                became.setdefault(number, state)
    assert unsettled.waiting == 300 - len(became)
    assert unsettled.room == MOST - (unsettled.next - unsettled.lowest)
    unsettled.forget()
    for state, name in STATES.items():
        assert diary.counts.get(name, 0) == sum(each == state for each in became.values())
    names = (*STATES.values(), "unsettled")
    assert sum(diary.counts.get(name, 0) for name in names) == 300
    errors = {number for number, state in became.items() if state not in {None, codec.ACCEPTED}}
    gathered = record.streams["error"]
    assert sorted(gathered.number[: gathered.length].tolist()) == sorted(errors)
    assert sum(record.streams[name].length for name in REFUSALS) == len(errors)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2**32 - 1), st.none() | st.integers(0, 3)), max_size=20),
    st.booleans(),
    st.integers(0, 60),
)
def test_dispositions_are_read_alone_as_together(
    ranges: list[tuple[int, int | None]],
    wide: bool,  # noqa: FBT001
    stale: int,
) -> None:
    """Of whatever width ids are, with and without a last one; as far as frames have one form.

    What has not come yet is not read, though there are bytes in its place.
    """
    frames = []
    for first, more in ranges:
        number = uint if wide else small
        last = codec.NULL if more is None else number(min(first + more, 2**32 - 1))
        fields = codec.TRUE, number(first), last, codec.TRUE, composite(codec.ACCEPTED)
        frames.append(codec.frame(composite(codec.DISPOSITION, *fields)))
    ours, theirs = socket.socketpair()
    read = []
    with ours, theirs:
        connection = Bare(ours)
        connection.buffer, connection.have = bytearray(b"".join(frames)), sum(map(len, frames))
        connection.buffer += b"".join(frames[-1:])[:stale]
        at = 0
        while at < connection.have:
            length = int.from_bytes(connection.buffer[at : at + 4])
            frame = bytes(connection.buffer[at : at + length])
            disposition, _ = codec.performative(frame[8:])
            form = form_of_disposition(frame, disposition)
            settled = single(disposition) if form is None else form.settled(connection, at)
            assert form is None or not len(form.settled(connection, connection.have).first)
            read += list(zip(settled.first.tolist(), settled.last.tolist(), strict=True))
            at += length * len(settled.first)
    assert read == [
        (first, first if more is None else min(first + more, 2**32 - 1)) for first, more in ranges
    ]


# how a connection ends


def error(condition: str, words: str) -> bytes:
    """An error as it is sent."""
    return composite(0x1D, codec.symbol(condition), codec.string(words))


@pytest.mark.parametrize(
    ("frame", "kind", "words"),
    [
        (
            composite(codec.CLOSE, error("amqp:connection:forced", "shutting down")),
            Lost,
            "the connection was closed: amqp:connection:forced: shutting down",
        ),
        (
            composite(codec.CLOSE, error("amqp:resource-limit-exceeded", "too many")),
            Refused,
            "amqp:resource-limit-exceeded: too many",
        ),
        (
            composite(codec.END, error("amqp:session:window-violation", "")),
            Refused,
            "the session was closed: amqp:session:window-violation",
        ),
        (
            composite(
                codec.DETACH, uint(0), codec.TRUE, error("amqp:link:stolen", "somebody else")
            ),
            Refused,
            "the link was detached: amqp:link:stolen: somebody else",
        ),
        (
            composite(
                codec.DETACH,
                uint(0),
                codec.TRUE,
                composite(
                    0x1D,
                    codec.symbol("amqp:link:redirect"),
                    codec.NULL,
                    codec.mapping({"network-host": codec.string("elsewhere")}),
                ),
            ),
            Refused,
            "amqp:link:redirect: network-host=elsewhere",
        ),
        (composite(codec.CLOSE), Lost, "without a reason"),
    ],
)
def test_an_end_is_told_with_its_condition(frame: bytes, kind: type[Exception], words: str) -> None:
    """A refusal; but a broker that stops is only away."""
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(kind, match=words):
        Bare(ours).attend(codec.performative(frame)[0])


def test_a_flow_tells_what_the_session_takes() -> None:
    """Beyond what is under way to it; also where ids begin anew."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = Bare(ours)
        connection.outgoing = 110
        flow = composite(codec.FLOW, uint(100), uint(50), uint(0), uint(WINDOW))
        connection.attend(codec.performative(flow)[0])
        assert connection.window == 40
        connection.outgoing = HIGHEST + 5
        flow = composite(codec.FLOW, uint(3), uint(42), uint(0), uint(WINDOW))
        connection.attend(codec.performative(flow)[0])
        assert connection.window == 40


def test_a_frame_beyond_what_is_allowed_is_refused() -> None:
    """Instead of waiting for gigabytes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = Bare(ours)
        theirs.sendall(codec.FRAME.pack(1 << 30, 2, 0, 0))
        connection.fill()
        with pytest.raises(Refused, match="1073741824 bytes"):
            connection.frame(0)


def test_a_link_of_our_own_making_says_what_it_is() -> None:
    """Role, settlement, and an address at the end that is not ours."""
    sends = links.Wanted(2, "there", sends=True, settled=True).attach()
    frame, _ = codec.performative(sends[8:])
    assert (frame.field(1), frame.field(2), frame.field(3)) == (2, False, links.SETTLED)
    assert frame.field(6).field(0) == "there"
    replies = links.Wanted(0, None, sends=False, settled=False).attach()
    frame, _ = codec.performative(replies[8:])
    assert (frame.field(2), frame.field(5).field(0), frame.field(5).field(4)) == (True, None, True)
