"""The traffic of compute nodes: its matrix, and who sends what to which queue."""

import json
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from pydantic import ValidationError
from typing_extensions import override

from mqperf.base.errors import LoadError
from mqperf.lab.load import LAUNCHERS, Access, Endpoint, LoadJob
from mqperf.onhost.load.control import Control
from mqperf.plan import Case
from mqperf.plan.load import GENERATORS, pairs
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_numbered.lab.environment import Environment
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.tally import Tally
from mqperf_openstack.lab.layout import Layout, queues
from mqperf_openstack.onhost.compute_nodes import orders
from mqperf_openstack.onhost.compute_nodes.__main__ import STREAMS
from mqperf_openstack.onhost.compute_nodes.sending import Due, Senders
from mqperf_openstack.plan.matrix import Message, matrix, reply, request

if TYPE_CHECKING:
    from mqperf_amqp_0_9_1.onhost.connection import Connection

ROOT = Path(__file__).parents[2]
GENERATOR = GENERATORS["compute-nodes"]
CALLS = [message for message in matrix().messages if message.kind == "call"]


def case(**changes: object) -> Case:
    fixed = {
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": "publish",
        "generator": "compute-nodes",
        "green_threads": 1,
        "duration_s": 5,
        "parameters": {"compute_nodes": 7},
    }
    return Case.model_validate(fixed | changes)


def orders_of(planned: Case, tmp_path: Path) -> list[orders.Orders]:
    """The orders of every process of a case."""
    end = Endpoint("amqp-0-9-1", ("127.0.0.1:5001",), "user", "hidden$1", "run")
    tool = Environment("/host/python", (Path("/host/ours"),), {})
    job = LoadJob(
        planned, "run", Access(end, end), tool, pairs(planned), tmp_path, Path("/out"), "127.0.0.1"
    )
    read = []
    for command in LAUNCHERS["compute-nodes"].commands(job):
        assert "hidden$1" not in " ".join([*command.argv, *command.env.values()])
        for name, text in command.files.items():
            (tmp_path / name).write_text(text)
            read.append(orders.read(tmp_path / name))
    return read


# the matrix


@pytest.mark.parametrize("message", matrix().messages, ids=lambda message: message.message)
def test_envelopes_are_those_of_oslo_messaging(message: Message) -> None:
    """They have version 2.0, a message inside, and exactly the length that the matrix says."""
    for text, length in ((request(message), message.request_bytes), (reply(message), 0)):
        outer = json.loads(text)
        assert outer["oslo.version"] == "2.0"
        assert "_unique_id" in json.loads(outer["oslo.message"])
        assert len(text) == length or message.reply_bytes in {len(text), None}
    assert json.loads(json.loads(request(message))["oslo.message"])["method"] == message.message


@pytest.mark.parametrize("message", matrix().messages, ids=lambda message: message.message)
def test_the_matrix_is_in_the_how_to(message: Message) -> None:
    """The table has each message with its period, its sizes and its option."""
    text = (ROOT / "docs/howto/compute-nodes.md").read_text()
    [row] = [line for line in text.splitlines() if line.startswith(f"| {message.message} |")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    every = f"{message.every_s:g} s" + (", whole cloud" if message.each == "cloud" else "")
    assert cells[1] == message.kind
    assert cells[4] == every
    assert cells[5:8] == [
        str(message.request_bytes),
        str(message.reply_bytes or ""),
        message.option,
    ]
    assert cells[8].strip("`") == message.source.partition(",")[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reply_bytes": None}, "a call has reply_bytes"),
        ({"each": "cloud"}, "a period of every node"),
        ({"from": "controller", "each": "cloud"}, "calls are made by nodes"),
        ({"request_bytes": 10}, "greater than or equal to 400"),
    ],
)
def test_an_inconsistent_matrix_is_refused(changes: dict[str, object], words: str) -> None:
    """The error names the contradiction."""
    sound = CALLS[0].model_dump(by_alias=True)
    with pytest.raises(ValidationError, match=words):
        Message.model_validate(sound | changes)


# who sends what to which queue


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_all_flows_of_the_matrix_are_sent(processes: int, tmp_path: Path) -> None:
    """Each flow is sent by one process; together they offer the rate of the matrix."""
    all_orders = orders_of(case(processes=processes), tmp_path)
    flows = [flow for process in all_orders for line in process.senders for flow in line]
    numbers = Counter(flow.number for flow in flows)
    assert set(numbers.values()) == {1}
    assert sum(flow.rate * max(1, flow.copies) for flow in flows) == pytest.approx(
        matrix().deliveries_s(7)
    )
    process = all_orders[-1]
    for number in numbers:
        name = process.sender(process.place(number))
        owner = next(
            each.label
            for each in all_orders
            for line in each.senders
            for flow in line
            if flow.number == number
        )
        assert name.startswith(f"{owner}.")


@pytest.mark.parametrize("processes", [1, 2])
def test_every_message_has_a_queue_that_takes_it(processes: int, tmp_path: Path) -> None:
    """By topic, by the name of the queue, or as copies in as many queues as there are nodes."""
    all_orders = orders_of(case(processes=processes), tmp_path)
    boxes = [box for process in all_orders for line in process.boxes for box in line]
    bound = Counter(
        (box.exchange, box.routing_key) for box in {box.queue: box for box in boxes}.values()
    )
    named = {box.queue for box in boxes}
    for process in all_orders:
        for flow in (flow for line in process.senders for flow in line):
            if flow.exchange:
                assert bound[flow.exchange, flow.routing_key] == max(1, flow.copies)
            else:
                assert flow.routing_key in named
    copies = [box.copy for box in boxes if box.copy]
    assert sorted(copies) == list(range(1, 8))
    assert named == set(queues(case(processes=processes), "run"))


def test_a_node_has_a_connection_to_send_and_one_to_listen(tmp_path: Path) -> None:
    """Controllers have one to send per hundred nodes, and one per process to listen."""
    server, client = orders_of(case(parameters={"compute_nodes": 250}), tmp_path)
    assert len(client.senders) == 250 + 3
    assert len(server.boxes) == 250 + 1
    assert {len(line) for line in client.senders[:250]} == {
        sum(message.from_node for message in matrix().messages)
    }
    assert client.broker.heartbeat_s == 60


def test_a_reply_is_due_after_its_call() -> None:
    """The delay is the handling time, for every node; no two flows of a node coincide."""
    layout = Layout("run", 7, 1.0, 1)
    lines = list(layout.senders(1))
    replies = {(flow["number"] - 11 * 7): flow for flow in lines[-1] if not flow["exchange"]}
    calls = {flow["number"]: flow for line in lines[:-1] for flow in line}
    assert len(replies) == 7 * len(CALLS)
    for number, flow in replies.items():
        later = (flow["phase"] - calls[number]["phase"]) / flow["rate"]
        assert later == pytest.approx(0.02)
    for line in lines[:-1]:
        assert len({round(flow["phase"], 6) for flow in line}) == len(line)


def test_threads_are_refused(tmp_path: Path) -> None:
    """A node is no thread: the error says which key is meant."""
    with pytest.raises(LoadError, match="set green_threads to 1, got 5, and say compute_nodes"):
        orders_of(case(green_threads=5), tmp_path)


def test_processes_without_a_node_are_refused(tmp_path: Path) -> None:
    """Each process needs at least one node."""
    few = case(processes=3)
    few = few.model_copy(update={"parameters": {**few.parameters, "compute_nodes": 2}})
    with pytest.raises(LoadError, match="2 compute nodes are too few for 3 processes"):
        orders_of(few, tmp_path)


class Full:
    """A connection whose socket takes half of what it is given, and the rest when it is closed.

    ``sent`` is the number of bytes that the broker got.
    """

    blocked, frame_max = False, 131_072

    def __init__(self) -> None:
        self.socket = socket.socket()
        self.queued = self.sent = 0

    @property
    def drained(self) -> bool:
        return self.sent == self.queued

    def send(self, content: bytes) -> None:
        self.queued += len(content)
        self.sent += len(content) // 2

    def close(self, _timeout_s: float) -> bool:
        self.sent = self.queued
        return True


class Answering(Full):
    """A connection that takes everything, and has these answers of the broker to read."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        super().__init__()
        self.answers = deque(answers)
        self.left_at_close: int | None = None

    @override
    def send(self, content: bytes) -> None:
        self.queued += len(content)
        self.sent = self.queued

    def frame(self, at: int) -> tuple[int, int, bytes] | None:
        return (codec.METHOD, 1, self.answers.popleft()) if not at and self.answers else None

    def consumed(self, _count: int) -> None:
        """Answers are read whole."""

    @override
    def close(self, _timeout_s: float) -> bool:
        self.left_at_close = len(self.answers)
        self.socket.close()
        return True


def sending(tmp_path: Path, timeout_s: float) -> tuple[Senders, Diary, Record, orders.Flow]:
    """The unconnected senders of a process, their diary and record, and the first flow."""
    process = next(process for process in orders_of(case(), tmp_path) if process.kind == "client")
    tally = Tally(process.label, process.kind, process.test_case, time.time(), STREAMS["client"])
    diary = Diary("compute-nodes", process.label, process.kind)
    record = Record(tally, process.sender)
    changed = replace(process, timeout_s=timeout_s)
    clients = Senders(changed, Control(tmp_path, process.label), record, diary)
    return clients, diary, record, process.senders[0][0]


def sent(record: Record, tmp_path: Path) -> int:
    """How many messages are recorded as sent."""
    record.save(tmp_path / "client.counts")
    return record.tally.streams["sent"].total


def test_messages_left_in_a_full_socket_are_never_sent(tmp_path: Path) -> None:
    """The connection is cut instead of closed, so that the broker gets no message uncounted."""
    clients, diary, record, flow = sending(tmp_path, timeout_s=0.0)
    talk, connection = clients.connections.all[0], Full()
    talk.connection = cast("Connection", connection)
    talk.due += [Due(flow, number, 0) for number in range(3)]
    talk.send()
    clients.finish()
    assert connection.sent < connection.queued
    assert connection.socket.fileno() == -1
    assert diary.counts == {"never-sent": 3, "cut-off": 1}
    assert sent(record, tmp_path) == 0


def test_every_message_is_answered_before_the_connection_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quorum queue may lose what it has not confirmed when the channel is closed."""
    clients, diary, record, flow = sending(tmp_path, timeout_s=30.0)
    up_to_two, third = (
        struct.pack(">HHQB", *codec.ACK, 2, 1),
        struct.pack(">HHQB", *codec.NACK, 3, 0),
    )
    talk, connection = clients.connections.all[0], Answering([up_to_two, third])
    talk.connection = cast("Connection", connection)
    monkeypatch.setattr(clients, "attend", partial(talk.read, talk.connection))
    talk.due += [Due(flow, number, time.time_ns()) for number in range(3)]
    talk.send()
    clients.finish()
    assert connection.left_at_close == 0
    assert not talk.unconfirmed
    assert diary.counts == {"never-sent": 0, "not-confirmed": 1}
    assert sent(record, tmp_path) == 3
