"""Super streams: the partition of a message, its number there, and RabbitMQ declarations."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
from typing_extensions import override

from mqperf.base.errors import SystemFault
from mqperf.lab.systems.rabbitmq.settings import parse_settings
from mqperf.plan import Case
from mqperf_numbered.onhost.broker import Broker
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.outbox import Outbox
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.tally import Tally
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.frames import Frames
from mqperf_streams.onhost.murmur import murmur3
from mqperf_streams.onhost.orders import Orders
from mqperf_streams.onhost.partitioned_thread import PartitionedThread
from mqperf_streams.onhost.routes import KEY_COUNT, Routes

HERE = Path("/nowhere")


class Pipe(Outbox):
    """A connection that accepts ``room`` bytes."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room, self.taken = room, b""

    @override
    def flush(self) -> None:
        while self.out and self.room:
            view = self.out.popleft()
            part = view[: self.room]
            self.taken += part
            self.room -= len(part)
            self.sent += len(part)
            if len(part) < len(view):
                self.out.appendleft(view[len(part) :])


def thread(confirms: int = 10_000) -> PartitionedThread:
    """The second of two threads, each with three partitions."""
    orders = Orders(
        label="client-1",
        kind="client",
        test_case="publish",
        run=7,
        control=HERE,
        out=HERE,
        broker=Broker((), "", "", "/"),
        load_s=5.0,
        timeout_s=5.0,
        limits_s=(),
        threads_per_process=2,
        all_threads=2,
        pace=None,
        message_count=None,
        consume_after_s=None,
        payload_bytes=100,
        threads=(Thread(1, "run.000002"),),
        confirms=confirms,
        offset="first",
        chunk_credit=10,
        partitions=3,
    )
    tally = Tally("client-1", "client", "publish", time.time(), ["sent", "error", "confirmed"])
    record = Record(tally, orders.sender)
    return PartitionedThread(orders, 1, record, Frames(orders, Routes(3)))


def ranges(publishing: PartitionedThread, stream: str) -> dict[str, object]:
    """The numbers of a stream, by sender."""
    tally = publishing.record.tally
    publishing.record.missing(stream)
    rows = (row for (name, who), seen in tally.seen.items() for row in seen.rows(name, who))
    return {row["sender"]: row["ranges"] for row in rows if row["stream"] == stream}


@pytest.mark.parametrize(
    ("text", "seed", "value"),
    [
        ("", 1, 0x514E28B7),
        ("hello", 0, 0x248BFA47),
        ("hello, world", 0, 0x149BBB7F),
        ("The quick brown fox jumps over the lazy dog", 0, 0x2E4FF723),
    ],
)
def test_the_hash_is_murmur3(text: str, seed: int, value: int) -> None:
    """It equals the published values for texts of any length."""
    assert murmur3(text.encode(), seed) == value


def test_keys_go_where_clients_of_rabbitmq_send_them() -> None:
    """RabbitMQ's clients in several languages map these keys to three partitions so."""
    places = [murmur3(f"hello{number}".encode()) % 3 for number in range(1, 11)]
    assert places == [1, 0, 1, 2, 0, 2, 0, 1, 0, 2]


def test_messages_of_a_partition_are_numbered_without_gaps() -> None:
    """Numbers start at 0 in the order of the thread, one for each key of the partition."""
    routes, numbers = Routes(3), np.arange(5_500)
    partition, within = routes.numbered(numbers)
    for place in range(3):
        assert np.array_equal(within[partition == place], np.arange((partition == place).sum()))
    by_key = np.bincount([murmur3(str(key).encode()) % 3 for key in range(KEY_COUNT)])
    assert np.array_equal(np.bincount(partition[:5_000]), 5 * by_key)


def test_a_connection_that_ends_within_a_frame_has_not_taken_it() -> None:
    """Its messages are sent again with the same partition numbers; no frame mixes partitions."""
    publishing, first = thread(), Routes(3).run(0)[1]
    size = codec.PUBLISHED.size + first * publishing.messages.unit  # type: ignore[attr-defined]
    cut, rest = Pipe(size + 1000), Pipe(1 << 20)
    publishing.attach(cut)
    for _ in range(2):
        publishing.send(publishing.sendable(time.time_ns()))
    publishing.settle()
    assert (publishing.next, publishing.waiting) == (first, first)
    publishing.attach(rest)
    assert (publishing.waiting, publishing.unconfirmed) == (0, first)
    while publishing.next < 1_500:
        publishing.send(publishing.sendable(time.time_ns()))
    partition, _ = Routes(3).numbered(np.arange(publishing.next))
    last = [int((partition == place).sum()) - 1 for place in range(3)]
    assert ranges(publishing, "sent") == {f"client-1.2-{at}": [[0, last[at]]] for at in range(3)}
    publishers = [cut.taken[8], cut.taken[size + 8], rest.taken[8]]
    assert publishers == [0, 1, 1]


def test_a_partition_that_does_not_confirm_holds_the_thread_back() -> None:
    """The window counts from the oldest unconfirmed message, and no numbers are mixed up."""
    publishing = thread(confirms=1000)
    publishing.attach(Pipe(1 << 20))
    while publishing.next < 1000:
        publishing.send(publishing.sendable(time.time_ns()))
    assert publishing.held_back
    partition, _ = Routes(3).numbered(np.arange(1000))
    slow = int(partition[0])
    now_ns = time.time_ns()
    publishing.ended("confirmed", np.flatnonzero(partition != slow), now_ns)
    assert publishing.waiting == (partition == slow).sum()
    assert publishing.held_back
    assert publishing.sendable(now_ns) == 0
    publishing.ended("confirmed", np.flatnonzero(partition == slow)[:100], now_ns)
    assert publishing.sendable(now_ns) == 100
    assert not publishing.held_back


def case(partitions: int) -> Case:
    return Case.model_validate(
        {
            "system": "rabbitmq",
            "topology": "single",
            "queues": "stream",
            "test_case": "publish",
            "generator": "rabbitmq-stream",
            "green_threads": 2,
            "duration_s": 5,
            "parameters": {"partitions": partitions},
        }
    )


def test_a_run_finds_its_super_streams() -> None:
    """There is one per thread, with partitions bound in order, or none without partitions."""
    settings = parse_settings({"streams": True})
    declared = settings.declared(case(3), "run", "4.0.5")
    assert [each["name"] for each in declared["exchanges"]] == ["run.000001", "run.000002"]
    bound = [(each["source"], each["destination"]) for each in declared["bindings"]]
    assert bound[3:] == [("run.000002", f"run.000002-{place}") for place in range(3)]
    assert [each["name"] for each in declared["queues"]] == [name for _, name in bound]
    assert not settings.declared(case(1), "run", "4.0.5")


def test_nodes_listen_for_streams_as_clients_connect() -> None:
    """Each node has a stream listener for the load that uses it; only TLS if that is requested."""
    stream, other = case(1), case(1).model_copy(update={"generator": "amqp-0-9-1"})
    assert parse_settings({"streams": True}).listener(stream) == "stream"
    assert parse_settings({"streams": True}).listener(other) is None
    with pytest.raises(SystemFault, match=re.escape("set settings: {streams: true}")):
        parse_settings({}).listener(stream)
