"""RabbitMQ streams by their own protocol: delivered chunks, and plans."""

import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from refused import refused

from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan
from mqperf_numbered.onhost.broker import Lost
from mqperf_numbered.onhost.stamps import STAMP
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.consumer import BATCH, Inlet, stamps_of

PLAN = """\
systems: {{rabbitmq: {{topologies: [single], queues: [{0}], settings: {{streams: true}}}}}}
test_cases: [publish]
load: {{generator: rabbitmq-stream, green_threads: 1, duration_s: 5, {1}}}
"""


def stamp(number: int) -> bytes:
    return np.array([(7, 1, number, 100, 200)], STAMP).tobytes()


def entry(body: bytes) -> bytes:
    content = codec.SECTION + codec.opaque(body)
    return codec.SIZE.pack(len(content)) + content


def numbers(*entries: bytes) -> list[int]:
    return [int(number) for number in stamps_of(b"".join(entries), len(entries))["number"]]


def test_messages_of_one_length_are_rows() -> None:
    """Each has its stamp, in order; a chunk may contain no message at all."""
    assert numbers(*(entry(stamp(place) + b"rest") for place in range(50))) == [*range(50)]
    assert numbers() == []


def test_messages_of_any_length_are_read_one_by_one() -> None:
    """Foreign messages, which have no stamp, belong to no run."""
    strange = codec.SIZE.pack(3) + b"\0Sr"
    chunk = [entry(stamp(1)), entry(stamp(2) + b"more"), entry(b"short"), strange, entry(stamp(3))]
    assert numbers(*chunk) == [1, 2, 0, 0, 3]
    runs = stamps_of(b"".join(chunk), len(chunk))["run"].tolist()
    assert runs == [7, 7, 0, 0, 7]
    assert numbers(strange, strange) == [0, 0]


@pytest.mark.parametrize(
    ("answer", "leader"),
    [
        (b"\0\0\0\0\0\0\0\1\0\2s0\0\6\xff\xff\0\0\0\0", False),
        (b"\0\0\0\0\0\0\0\1\0\2s0\0\1\xff\xff\0\0\0\0", False),
        (b"\0\0\0\1\0\0\0\tlocalhost\0\0N\xc6\0\0\0\1\0\2s0\0\1\0\0\0\0\0\0", True),
    ],
)
def test_a_stream_that_is_being_made_has_no_leader(answer: bytes, *, leader: bool) -> None:
    """RabbitMQ 4.0 answered: not available, available without a leader, and with one."""
    assert codec.has_leader(answer) is leader


def test_entries_of_several_messages_are_refused() -> None:
    """An entry with several messages is an error, since skipping them silently would be a loss."""
    batch = struct.pack(">I", BATCH | 5) + bytes(5)
    with pytest.raises(Lost, match="in batches"):
        numbers(entry(stamp(1)), batch)


@pytest.mark.parametrize(
    ("queues", "keys", "problem"),
    [
        ("classic", "rate_msg_s: 10", "it publishes to streams only"),
        ("stream", "offset: next, consume_after_s: 2", "skip those before"),
        ("stream", "confirms: 0", "expected at least 1, got 0"),
        ("stream", "offset: middle", "offset"),
    ],
    ids=["queue", "late", "unconfirmed", "offset"],
)
def test_what_a_load_of_streams_cannot_do_is_refused(queues: str, keys: str, problem: str) -> None:
    """The error is a sentence with the reason."""
    refused(PLAN.format(queues, keys), problem)


def test_a_load_of_streams_may_be_swept() -> None:
    """Its keys can be axes, as for all loads."""
    text = PLAN.format("stream", "offset: [first, last, next], chunk_credit: [1, 10]")
    assert len(parse_plan(text, Path("streams.yaml"), problems_of).cases()) == 6


def test_messages_before_the_close_are_counted() -> None:
    """If a close follows chunks in one read, their messages, which are not resent, count."""
    data = b"".join(entry(stamp(number)) for number in range(3))
    chunk = codec.CHUNK.pack(0, 0x50, 0, 3, 3, 0, 0, 0, 0, len(data), 0, 0) + data
    come = [(codec.DELIVER, chunk, 1), (codec.DELIVER + 1, b"", 2)]
    taken: list[int] = []

    def lost(_key: int, _payload: bytes) -> None:
        raise Lost("the leader is another now")

    connection: Any = SimpleNamespace(
        frame=lambda at: come[at] if at < len(come) else None,
        attend=lost,
        arrived_ns=lambda ends: ends * 10**9,
        consumed=lambda _at: None,
    )
    arrivals = SimpleNamespace(take=lambda stamp, *_: taken.extend(stamp["number"].tolist()))
    thread, server = SimpleNamespace(address="s"), SimpleNamespace(arrivals=arrivals)
    orders = SimpleNamespace(partitions=1, broker=None)
    inlet = Inlet(*cast("Any", (orders, thread, server, None, None)))
    with pytest.raises(Lost, match="another now"):
        inlet.read(connection)
    assert (taken, inlet.next) == ([0, 1, 2], [3])
