"""AMQP 1.0 as bytes: values, sent messages, and how a connection ends."""

import struct
from pathlib import Path
from typing import Any

import pytest
from bare_connection import connected
from hypothesis import given
from hypothesis import strategies as st

from mqperf_amqp_1_0.onhost import codec, links
from mqperf_amqp_1_0.onhost.codec import HIGHEST, Described, composite, uint
from mqperf_amqp_1_0.onhost.connection import WINDOW
from mqperf_amqp_1_0.onhost.orders import Orders
from mqperf_amqp_1_0.onhost.sender_thread import ID_AT, MOST_LENGTHS, TAG_AT, lengths, template
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.broker import Broker, Lost, Refused


def orders(**changes: object) -> Orders:
    """The orders of a process, as far as messages depend on them."""
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
    """A value is read up to its last byte, whatever follows it."""
    assert codec.value(content + b"\x41") == (found, len(content))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    """Invalid bytes raise ``ValueError`` and nothing else."""
    try:
        _, end = codec.value(content)
    except ValueError:
        return
    assert end > 0


# messages that are sent


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
    """No frame is too large, all but the last have ``more`` set; together they are the message."""
    settlement = "pre-settled" if settled else "at-least-once"
    delivery = "persistent" if durable else "transient"
    chosen = orders(payload_bytes=size, settlement=settlement, delivery=delivery, priority=priority)
    content, stamp_at, count, whole = template(chosen, 3, frame_max)
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
    """Lengths vary by the given share in both directions; their mean is the usual length."""
    sizes = lengths(orders(payload_bytes=size, payload_spread=spread))
    assert (sizes[0], sizes[-1], len({*sizes})) == (least, most, count)
    assert sum(sizes) == size * count


def test_id_and_tag_can_be_overwritten_in_place() -> None:
    """Their offsets are the same whatever the handle is."""
    for handle in (0, 3, 70_000):
        content = bytearray(template(orders(), handle, 65_536).frames)
        content[ID_AT : ID_AT + 4], content[TAG_AT : TAG_AT + 4] = b"\0\0\1\2", b"wxyz"
        frame, _ = codec.performative(bytes(content[8:]))
        assert (frame.field(0), frame.field(1), frame.field(2)) == (handle, 258, b"wxyz")


# how a connection ends


def error(condition: str, words: str) -> bytes:
    """An encoded error."""
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
def test_an_end_has_its_condition(frame: bytes, kind: type[Exception], words: str) -> None:
    """It is a refusal, except that a broker which shuts down counts as lost."""
    with connected() as (connection, _), pytest.raises(kind, match=words):
        connection.attend(codec.performative(frame)[0])


def test_a_flow_sets_the_window_of_the_session() -> None:
    """Transfers under way are deducted, also where ids wrap around."""
    with connected() as (connection, _):
        connection.outgoing = 110
        flow = composite(codec.FLOW, uint(100), uint(50), uint(0), uint(WINDOW))
        connection.attend(codec.performative(flow)[0])
        assert connection.window == 40
        connection.outgoing = HIGHEST + 5
        flow = composite(codec.FLOW, uint(3), uint(42), uint(0), uint(WINDOW))
        connection.attend(codec.performative(flow)[0])
        assert connection.window == 40


def test_a_frame_beyond_the_limit_is_refused() -> None:
    """It is refused at once, instead of waiting for gigabytes."""
    with connected() as (connection, theirs):
        theirs.sendall(codec.FRAME.pack(1 << 30, 2, 0, 0))
        connection.fill()
        with pytest.raises(Refused, match="1073741824 bytes"):
            connection.frame(0)


def test_an_attach_frame_describes_its_link() -> None:
    """It has the role, the settlement mode, and the address of the remote end."""
    sends = links.Wanted(2, "there", sends=True, settled=True).attach()
    frame, _ = codec.performative(sends[8:])
    assert (frame.field(1), frame.field(2), frame.field(3)) == (2, False, links.SETTLED)
    assert frame.field(6).field(0) == "there"
    replies = links.Wanted(0, None, sends=False, settled=False).attach()
    frame, _ = codec.performative(replies[8:])
    assert (frame.field(2), frame.field(5).field(0), frame.field(5).field(4)) == (True, None, True)
