"""NATS: plans, configuration of its servers, and its messages on the wire."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from refused import refused

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan
from mqperf_nats.lab.nats import configuration
from mqperf_nats.onhost import codec, streams
from mqperf_nats.onhost.codec import Messages
from mqperf_nats.onhost.connection import Connection, problem
from mqperf_nats.onhost.publisher import Outlet
from mqperf_nats.onhost.rows import Rows
from mqperf_nats.onhost.subscriber import Inlet
from mqperf_numbered.onhost import inbox
from mqperf_numbered.onhost.broker import Broker, Lost, Refused
from mqperf_numbered.onhost.stamps import SIZE, STAMP, within

PLAN = """\
systems: {{nats: {{topologies: [{0}], queues: [{1}]}}}}
test_cases: [publish]
load: {{generator: {2}, green_threads: 1, duration_s: 5, {3}}}
"""


def message(number: int, rest: bytes = b"", reply: bytes = b"") -> bytes:
    """A message as servers write it; two spaces if there is no reply subject."""
    body = np.array([(7, 1, number, 100, 200)], STAMP).tobytes() + rest
    return b"MSG load 2 %s %d\r\n%s\r\n" % (reply, len(body), body)


def blocks(content: bytes) -> tuple[list[Messages | bytes], int]:
    """The parsed blocks of some bytes, and the position after them."""
    found, at, buffer = list[Messages | bytes](), 0, bytearray(content + bytes(100))
    while (part := codec.parsed(buffer, at, len(content))) is not None:
        found.append(part)
        at = at + len(part) + 2 if isinstance(part, bytes) else part.ends[-1]
    return found, at


def numbers(content: bytes) -> list[int]:
    """The numbers in the stamps of messages, -1 for foreign messages."""
    parts = [part for part in blocks(content)[0] if isinstance(part, Messages)]
    places = ((part.at, part.size, part.unit, part.rows) for part in parts)
    read = b"".join(within(bytearray(content), *place) for place in places)
    stamp = np.frombuffer(read, STAMP)
    return [int(one["number"]) if one["run"] == 7 else -1 for one in stamp]


def test_messages_with_one_head_are_taken_together() -> None:
    """Equal headers form one block; an incomplete message is left, wherever it is cut."""
    content = b"".join(map(message, range(5))) + b"PING\r\n" + message(5, b"more") + message(6)
    found, _ = blocks(content)
    assert [part if isinstance(part, bytes) else part.rows for part in found] == [5, b"PING", 1, 1]
    assert numbers(content) == [*range(7)]
    for cut in range(len(content)):
        whole, end = blocks(content[:cut])
        assert end <= cut
        assert numbers(content[:cut]) == [*range(7)][: len(numbers(content[:cut]))]
        assert blocks(content[:end]) == (whole, end)


def test_messages_of_streams_say_which_they_are() -> None:
    """Their reply subjects have sequence numbers, so each message is a block."""
    acks = [b"$JS.ACK.load.me.1.%d.1.1795658504071904604.0" % (40 + place) for place in range(3)]
    found, _ = blocks(b"".join(message(place, b"", ack) for place, ack in enumerate(acks)))
    replies = [part.reply for part in found if isinstance(part, Messages)]
    assert [streams.number(reply) for reply in replies if reply is not None] == [40, 41, 42]


def test_foreign_messages_have_no_stamp() -> None:
    """Short messages and messages with headers, which may contain MSG lines, have none."""
    headers = b"NATS/1.0\r\na: MSG load 2 1\r\n\r\n"
    strange = b"HMSG load 2 %d %d\r\n%s\r\n" % (len(headers), len(headers) + 5, headers + b"hello")
    assert numbers(message(1) + b"MSG load 2 5\r\nhello\r\n" + strange + message(2)) == [
        1,
        -1,
        -1,
        2,
    ]


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (b'{"stream":"load", "seq":1}', type(None), "None"),
        (b'{"error":{"code":400,"description":"bad request"}}', Refused, "bad request"),
        (b'{"error":{"code":503,"description":"maximum bytes"},"seq":0}', Lost, "maximum bytes"),
        (b"NATS/1.0 503\r\n\r\n", Lost, "no answer: no leader, or no JetStream"),
    ],
    ids=["confirmed", "refused", "later", "nobody"],
)
def test_answers_are_told_apart(answer: bytes, kind: type, words: str) -> None:
    """Confirmed, refused for good, or to be retried."""
    error = problem(answer)
    assert type(error) is kind
    assert str(error) == words


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Connection, socket.socket]]:
    """A connection that is logged in, and the socket of the server."""
    ours, server = socket.socketpair()
    ours.settimeout(30)
    server.sendall(b"INFO {}\r\n" + codec.PONG)
    monkeypatch.setattr(inbox, "connected", lambda *_: (ours, "mq1:4222"))
    with ours, server:
        yield Connection(Broker(("mq1:4222",), "me", "", "/")), server


ENDED = b"-ERR 'Stale Connection'\r\n"


def test_messages_before_the_end_are_counted(served: tuple[Connection, socket.socket]) -> None:
    """Messages before the error count; the stream continues after them."""
    connection, server = served
    acks = [b"$JS.ACK.load.me.1.%d.1.1795658504071904604.0" % (40 + place) for place in range(3)]
    server.sendall(b"".join(message(place, b"", ack) for place, ack in enumerate(acks)) + ENDED)
    taken: list[int] = []
    arrivals = SimpleNamespace(take=lambda stamp, *_: taken.extend(stamp["number"].tolist()))
    orders = SimpleNamespace(stream={}, acks="each", broker=None)
    thread, consumer = SimpleNamespace(address="load"), SimpleNamespace(arrivals=arrivals)
    inlet = Inlet(*cast("Any", (orders, thread, consumer, None, None)))
    connection.fill()
    with pytest.raises(Lost, match="mq1:4222: Stale Connection"):
        inlet.read(connection)
    assert (taken, inlet.next) == ([0, 1, 2], 43)


def test_confirms_before_the_end_are_counted(served: tuple[Connection, socket.socket]) -> None:
    """Confirms before the error that ends the connection are recorded."""
    connection, server = served
    confirm = b'{"stream":"load", "seq":1}'
    for number in (7, 8):
        server.sendall(b"MSG _INBOX.a.%012d 1 %d\r\n%s\r\n" % (number, len(confirm), confirm))
    server.sendall(ENDED)
    ended: dict[str, list[int]] = {}
    thread = SimpleNamespace(ended=lambda how, numbers, _: ended.update({how: numbers.tolist()}))
    connection.fill()
    with pytest.raises(Lost, match="Stale Connection"):
        Outlet.read(cast("Any", SimpleNamespace(thread=thread)), connection)
    assert ended == {"confirmed": [7, 8]}


def test_a_refused_client_learns_why(served: tuple[Connection, socket.socket]) -> None:
    """The reason is reported even after messages, while an answer is awaited."""
    connection, server = served
    server.sendall(message(0) + b"-ERR 'Authorization Violation'\r\n")
    with pytest.raises(Refused, match="Authorization Violation"):
        connection.reached()


@pytest.mark.parametrize("window", [0, 10], ids=["unasked", "asked"])
def test_rows_are_messages_on_the_wire(window: int) -> None:
    """Each has its stamp and, with confirms, a reply subject with its number."""
    orders = SimpleNamespace(confirms=window, payload_bytes=40, threads=("one",))
    rows = Rows(orders, "load")  # type: ignore[arg-type]
    inbox = codec.fresh_inbox()
    rows.confirmed_to(inbox)
    rows.stamps["number"][:3] = [998, 999, 1000]
    content = rows.content(np.array([998, 999, 1000]))
    lines = content.split(b"\r\n")[:1] + content.split(b"\r\nPUB")[1:]
    replies = [f"{inbox}.{number:012d}".encode() in content for number in (998, 999, 1000)]
    assert replies == [window > 0] * 3
    assert (
        len(lines),
        rows.handed_over(3, len(content)),
        rows.handed_over(3, len(content) - 1),
    ) == (3, 3, 2)
    assert all(line.split(b"\r\n")[0].endswith(b" 40") for line in lines)
    at = content.index(b"\r\n") + 2
    assert np.frombuffer(content[at : at + SIZE], STAMP)["number"] == [998]


@pytest.mark.parametrize(
    ("topology", "queues", "generator", "setting", "problem"),
    [
        ("single", "jetstream-file-r3", "nats", "", "one node has no replicas"),
        ("single", "core", "nats", "consume_after_s: 2", "core NATS keeps no message for later"),
        ("single", "classic", "nats", "", "NATS has no kind of queue 'classic'"),
        ("cmsm", "core", "nats", "", "NATS has no topology 'cmsm'"),
        ("single", "core", "simulator", "", "cannot talk to NATS"),
        ("single", "core", "nats", "acks: auto", "acks"),
        ("single", "core", "nats", "payload_bytes: 31", "at least 32, got 31"),
    ],
)
def test_an_invalid_plan_is_refused(
    topology: str, queues: str, generator: str, setting: str, problem: str
) -> None:
    """Each error says why."""
    refused(PLAN.format(topology, queues, generator, setting), problem)


def test_kinds_of_queue_and_parameters_are_axes() -> None:
    """Each combination is a case."""
    every = "core, jetstream-memory, jetstream-file, jetstream-memory-r3, jetstream-file-r3"
    text = PLAN.format("any-node", every, "nats", "acks: [each, multiple], confirms: [0, 100]")
    assert len(parse_plan(text, Path("nats.yaml"), problems_of).cases()) == 20


def test_three_nodes_form_a_cluster_and_one_does_not(tmp_path: Path) -> None:
    """Nodes listen on their own address, and require the password of clients and peers."""
    place = HostFolder(LocalHost(), tmp_path)
    second = json.loads(configuration([place] * 3, (1, 2, 3, 4, 5, 6), 1, "secret"))
    login = {"user": "mqperf", "password": "secret"}
    assert (second["listen"], second["cluster"]["listen"]) == ("127.0.0.1:2", "127.0.0.1:5")
    assert "nats://mqperf:secret@127.0.0.1:6" in second["cluster"]["routes"]
    assert (second["authorization"], second["cluster"]["authorization"]) == (login, login)
    assert "cluster" not in configuration([place], (1,), 0, "secret")
