"""AMQP 1.0 received as bytes: transfers cut anywhere, and the outcomes of messages."""

from itertools import pairwise

import numpy as np
from bare_connection import connected, small
from hypothesis import given
from hypothesis import strategies as st
from stamped import pieces, stamped

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import HIGHEST, Described, composite, uint
from mqperf_amqp_1_0.onhost.dispositions import Settled, single
from mqperf_amqp_1_0.onhost.dispositions import form_of as form_of_disposition
from mqperf_amqp_1_0.onhost.receiver import stretches
from mqperf_amqp_1_0.onhost.transfers import Batch, Transfers, form_of
from mqperf_amqp_1_0.onhost.unsettled import MOST, REFUSALS, Unsettled
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.tally import Tally

STATES = {
    codec.ACCEPTED: "accepted",
    codec.RELEASED: "released",
    codec.MODIFIED: "modified",
    codec.REJECTED: "rejected",
}


def transfer(handle: int, number: int, message: bytes, *, settled: bool, frame_max: int) -> bytes:
    """A message in frames as libraries write them: each repeats id and tag, with short lists."""
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
    """Each is read once and in order, across links and lengths, with other frames between them."""
    sent = stamped(len(messages))
    content = b""
    for place, (handle, size) in enumerate(messages):
        encoded = message(sent[place].tobytes(), size)
        content += transfer(handle, first + place, encoded, settled=settled, frame_max=4096)
        content += codec.EMPTY if place % 5 == 0 else b""
        content += codec.frame(composite(codec.FLOW)) if place % 7 == 0 else b""
    other_frames: list[Described] = []
    batches: list[Batch] = []
    with connected() as (connection, theirs):
        connection.socket.settimeout(0)
        transfers = Transfers(connection, batches.append, other_frames.append)
        for piece in pieces(content, cuts):
            theirs.sendall(piece)
            while connection.fill():
                transfers.read()
    ids = [int(delivery_id) for batch in batches for delivery_id in batch.ids]
    handles = [batch.handle for batch in batches for _ in batch.ids]
    numbers = [int(number) for batch in batches for number in batch.stamp["number"]]
    assert ids == list(range(first, first + len(messages)))
    assert handles == [handle for handle, _ in messages]
    assert numbers == list(range(len(messages)))
    assert all(batch.settled == settled for batch in batches)
    assert len(other_frames) == len(messages[::7])


def test_transfers_of_one_form_are_read_together() -> None:
    """From the second one on, all transfers of one form are read as one array."""
    sent = stamped(1000)
    content = b"".join(
        transfer(
            0, 1000 + place, message(sent[place].tobytes(), 256), settled=False, frame_max=4096
        )
        for place in range(1000)
    )
    batches: list[Batch] = []
    with connected(content) as (connection, _):
        Transfers(connection, batches.append, lambda _: None).read()
    assert [len(batch.ids) for batch in batches] == [1, 999]
    assert connection.incoming == 1000


def test_an_aborted_message_is_not_counted() -> None:
    """A message that is aborted half way is not counted; the next one is read."""
    sent = stamped(2)
    begun = transfer(0, 1, message(sent[0].tobytes(), 5000), settled=False, frame_max=4096)
    begun = begun[: int.from_bytes(begun[:4])]
    fields = [uint(0), codec.NULL, codec.NULL, codec.NULL, codec.NULL, codec.FALSE]
    aborted = codec.frame(composite(codec.TRANSFER, *fields, *[codec.NULL] * 3, codec.TRUE))
    after = transfer(0, 2, message(sent[1].tobytes(), 100), settled=False, frame_max=4096)
    batches: list[Batch] = []
    with connected(begun + aborted + after) as (connection, _):
        Transfers(connection, batches.append, lambda _: None).read()
    assert [int(batch.stamp["number"][0]) for batch in batches] == [1]


def test_a_transfer_without_a_stamp_has_no_form() -> None:
    """A message that is too short for a stamp is not read as one."""
    short = codec.descriptor(codec.DATA) + codec.binary(b"short")
    assert form_of(transfer(0, 1, short, settled=False, frame_max=4096)) is None


@given(st.sets(st.integers(0, 500)))
def test_stretches_cover_the_ids(ids: set[int]) -> None:
    """All ids are covered, in as few ranges as possible."""
    if not ids:
        return
    ranges = stretches(np.array(sorted(ids)))
    assert [number for first, last in ranges for number in range(first, last + 1)] == sorted(ids)
    assert all(later[0] > earlier[1] + 1 for earlier, later in pairwise(ranges))


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
def test_the_identity_holds_whatever_receivers_send(
    first: int, dispositions: list[tuple[list[tuple[int, int]], int | None]]
) -> None:
    """accepted + released + modified + rejected + unsettled = sent: each message counts once.

    Ranges may overlap, repeat earlier ones or name messages never sent, and ids may wrap around.
    """
    streams = ["sent", "error", "confirmed", *REFUSALS]
    record = Record(Tally("client-1", "client", "transfer", 1000.0, streams), "a".format)
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


@given(
    st.lists(st.tuples(st.integers(0, 2**32 - 1), st.none() | st.integers(0, 3)), max_size=20),
    st.booleans(),
    st.integers(0, 60),
)
def test_dispositions_are_read_together_as_one_by_one(
    ranges: list[tuple[int, int | None]],
    wide: bool,  # noqa: FBT001
    stale: int,
) -> None:
    """This holds for short and long ids, with and without a last one, while the form is the same.

    Bytes behind those that have arrived are not read.
    """
    frames = []
    for first, more in ranges:
        number = uint if wide else small
        last = codec.NULL if more is None else number(min(first + more, 2**32 - 1))
        fields = codec.TRUE, number(first), last, codec.TRUE, composite(codec.ACCEPTED)
        frames.append(codec.frame(composite(codec.DISPOSITION, *fields)))
    read = []
    content = b"".join(frames)
    with connected(content + b"".join(frames[-1:])[:stale]) as (connection, _):
        connection.have, at = len(content), 0
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
