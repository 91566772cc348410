"""STOMP, OpenWire and Core: their keys in plans, and their messages on the wire."""

import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from refused import refused

from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan
from mqperf_activemq.onhost import core, openwire
from mqperf_activemq.onhost.core import Core
from mqperf_activemq.onhost.openwire import OpenWire
from mqperf_activemq.onhost.orders import HEAD_BYTES, Orders
from mqperf_activemq.onhost.protocols import PROTOCOLS
from mqperf_activemq.onhost.stomp import Stomp
from mqperf_activemq.onhost.wire import Wire
from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.stamps import STAMP

PLAN = """\
systems: {{artemis: {{topologies: [single], queues: [{0}]}}}}
test_cases: [{1}]
load: {{generator: {2}, green_threads: 1, duration_s: 5, {3}}}
"""

NAME = "0123456789abcdef01234567"


def orders(acks: str = "each", confirms: int = 10, **more: object) -> Any:  # noqa: ANN401
    values = {"payload_bytes": 40, "persistent": False, "prefetch": 10, "threads": ("one",)}
    window = 10 * (40 + HEAD_BYTES)
    attributes = {**values, "acks": acks, "confirms": confirms, "window_bytes": window, **more}
    return SimpleNamespace(**attributes)


def connection(kind: type[Wire], content: bytes, given: Orders | None = None) -> Wire:
    """An unconnected connection that has received these bytes."""
    made = kind.__new__(kind)
    made.orders, made.queue, made.name = given or orders(), "load", NAME
    made.address, made.understood = "broker:1", 0
    made.empty(len(content) + 100)
    made.buffer[: len(content)] = content
    made.have, made.ends, made.read_ns = len(content), [len(content)], [5_000_000_000]
    if isinstance(made, OpenWire):
        made.consumer = openwire.named(openwire.CONSUMER_ID, NAME, 1, 1)
        made.answers = np.full(10, -1)
    if isinstance(made, Core):
        made.used_bytes = 0
    return made


def body(number: int, rest: bytes = b"\0more") -> bytes:
    return np.array([(7, 1, number, 100, 200)], STAMP).tobytes() + rest


def of_stomp(number: int, content: bytes) -> bytes:
    head = b"MESSAGE\nsubscription:0\ncontent-length:%d\nack:0,%d\nmessage-id:0,%d\n\n"
    return head % (len(content), 500 + number, number) + content + b"\0\n"


def of_core(number: int, content: bytes) -> bytes:
    encoded = core.message(content, "load", persistent=False)
    at = 4 + len(content)
    numbered = encoded[:at] + struct.pack(">q", 500 + number) + encoded[at + 8 :]
    return core.packet(core.MESSAGE, core.OURS, numbered + struct.pack(">qi", 0, 1))


def of_openwire(number: int, content: bytes) -> bytes:
    """A message as a broker delivers it, identified by its producer."""
    queue, producer = openwire.queue_named("load"), openwire.named(openwire.PRODUCER_ID, NAME, 1, 1)
    identity = openwire.nested(openwire.MESSAGE_ID, producer + struct.pack(">qq", 500 + number, 3))
    message = struct.pack(">bbib", 1, openwire.BYTES_MESSAGE, number, 0) + producer + queue
    message += bytes(2) + identity + bytes(7) + struct.pack(">bqb", 1, 0, 4) + bytes(10)
    message += struct.pack(">bi", 1, len(content)) + content + openwire.AFTER_BODY
    consumer = openwire.named(openwire.CONSUMER_ID, NAME, 1, 1)
    delivered = consumer + queue + message + bytes(4)
    return openwire.command(openwire.DISPATCH, number, delivered, answered=False)


MESSAGES: dict[type[Wire], Callable[[int, bytes], bytes]] = {
    Stomp: of_stomp,
    OpenWire: of_openwire,
    Core: of_core,
}
each_protocol = pytest.mark.parametrize("kind", MESSAGES)


def numbers(wire: Wire) -> list[int]:
    """The numbers in the stamps of what has arrived; -1 for a message of another run."""
    return [int(one["number"]) if one["run"] == 7 else -1 for one in wire.arrived().stamp]


@each_protocol
def test_messages_are_understood_wherever_they_are_cut(kind: type[Wire]) -> None:
    """Whatever their form, and with bodies without a stamp; an incomplete message is left over."""
    bodies = [body(0), body(1), body(2), b"short", body(4, b"longer than others"), body(5), body(6)]
    frames = [MESSAGES[kind](number, content) for number, content in enumerate(bodies)]
    content, wanted = b"".join(frames), [0, 1, 2, -1, 4, 5, 6]
    assert numbers(connection(kind, content)) == wanted
    for cut in range(len(content)):
        first = connection(kind, content[:cut])
        before = numbers(first)
        left = bytes(first.view[: first.have])
        assert before + numbers(connection(kind, left + content[cut:])) == wanted


@each_protocol
@pytest.mark.parametrize("acks", ["each", "multiple"])
def test_received_messages_are_acknowledged(kind: type[Wire], acks: str) -> None:
    """Each message is acknowledged, or all by the last one, with the identities from the broker."""
    content = b"".join(MESSAGES[kind](number, body(number)) for number in range(3))
    answer = connection(kind, content, orders(acks)).arrived().acks
    named = [500, 501, 502]
    acks_of = {
        Stomp: [b"0,%d\n" % name for name in named],
        OpenWire: [struct.pack(">q", name) for name in named],
        Core: [struct.pack(">q", name) for name in named],
    }[kind]
    ends = 2 if kind is OpenWire and acks == "multiple" else 1  # it has the first identity as well
    expected = [1, 1, 1] if acks == "each" else [ends - 1, 0, 1]
    assert [min(answer.count(word), 1) for word in acks_of] == expected


@each_protocol
def test_rows_are_messages_on_the_wire(kind: type[Wire]) -> None:
    """Each row has its stamp and number; the name is that of the connection."""
    rows = kind.rows(orders(), "load")
    rows.called(NAME.encode())
    rows.stamps["number"][:3] = [998, 999, 1000]
    content = rows.content(np.array([998, 999, 1000]))
    assert (rows.handed_over(3, len(content)), rows.handed_over(3, len(content) - 1)) == (3, 2)
    assert len(content) == 3 * rows.unit
    for place, number in enumerate((998, 999, 1000)):
        row = content[place * rows.unit : (place + 1) * rows.unit]
        assert row.count(struct.pack("<q", number)) == 1  # in the stamp
        written = b"receipt:%012d\n" % number if kind is Stomp else struct.pack(">i", number)
        assert written in row
        if kind is OpenWire:
            assert row.count(NAME.encode()) == 2


def exception(number: int, words: str) -> bytes:
    """The OpenWire exception of a broker for the command with this number."""
    why = openwire.text("Bad") + openwire.text(words)
    return openwire.command(openwire.EXCEPTION, 0, struct.pack(">ib", number, 1) + why)


@each_protocol
def test_outcomes_are_told_apart(kind: type[Wire]) -> None:
    """Confirmed messages are told apart from refused ones, which have the broker's reason."""
    refusal = {
        Stomp: b"ERROR\nreceipt-id:12\nmessage:is full\n\nmore\0\n",
        OpenWire: exception(12, "is full"),
        Core: core.packet(
            core.EXCEPTION,
            core.OURS,
            struct.pack(">i", 5) + core.maybe("is full") + struct.pack(">q", 12),
        ),
    }[kind]
    confirm: Callable[[int], bytes] = {
        Stomp: lambda number: b"RECEIPT\nreceipt-id:%012d\n\n\0" % number,
        OpenWire: lambda number: openwire.command(
            openwire.RESPONSE, 0, struct.pack(">i", number), answered=False
        ),
        Core: lambda number: core.packet(core.DONE, core.OURS, struct.pack(">q", number)),
    }[kind]
    twice = confirm(11) if kind is OpenWire else b""
    content = confirm(10) + confirm(11) + twice + refusal + confirm(13)
    confirmed, refused = connection(kind, content).outcomes()
    assert confirmed.tolist() == [10, 11, 13]
    [(number, why)] = refused
    assert (number, why.rpartition(": ")[2]) == (12, "is full")


@each_protocol
def test_a_closing_broker_is_reported(kind: type[Wire]) -> None:
    """The error has the broker's reason, or says that the connection ended."""
    end = {
        Stomp: b"ERROR\nmessage:goes away\n\n\0",
        OpenWire: exception(0, "goes away"),
        Core: core.packet(core.DISCONNECT, core.EVERY),
    }[kind]
    with pytest.raises((Lost, Refused), match=r"broker:1: .*(goes away|ends the connection)"):
        connection(kind, end).arrived()


def test_strings_of_core_are_read_as_they_are_written() -> None:
    """Empty, short and long strings survive a round trip."""
    for words in ("", "is full", "a longer sentence, with a ü"):
        assert core.read(core.maybe(words)) == words


@pytest.mark.parametrize(
    ("queues", "test_case", "generator", "option", "problem"),
    [
        ("classic", "transfer", "stomp", "", "does not make 'transfer'"),
        ("classic", "publish", "openwire", "consume_after_s: 2", "removes a queue that nobody"),
        ("classic", "publish", "artemis-core", "payload_bytes: 31", "at least 32, got 31"),
        ("classic", "publish", "artemis-core", "payload_bytes: 200000", "at most 100,000"),
        ("classic", "publish", "stomp", "acks: auto", "acks"),
    ],
)
def test_an_invalid_plan_is_refused(
    queues: str, test_case: str, generator: str, option: str, problem: str
) -> None:
    """The error says why."""
    refused(PLAN.format(queues, test_case, generator, option), problem)


def test_only_artemis_has_these_generators() -> None:
    """RabbitMQ and ActiveMQ, as mqperf starts them, offer none of these protocols."""
    for system in ("activemq", "rabbitmq"):
        text = PLAN.replace("artemis", system).format("classic", "publish", "stomp", "")
        refused(text, "cannot talk to")


def test_every_generator_has_its_protocol() -> None:
    """It is found by name; all have the same keys, so that one plan compares them."""
    each = ", ".join(f"{name}: {{confirms: 10}}" for name in PROTOCOLS)
    text = PLAN.format("classic", "publish", f"{{{each}, amqp-1.0: {{}}}}", "rate_msg_s: 5")
    cases = parse_plan(text, Path("artemis.yaml"), problems_of).cases()
    assert [case.generator for case in cases] == [*PROTOCOLS, "amqp-1.0"]
