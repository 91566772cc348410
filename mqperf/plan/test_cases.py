"""Test cases: what clients are asked to do, and when a message counts as finished.

Everything that differs between them is asked here; nothing else knows one by its name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from mqperf.base.registry import Registry

MESSAGES = "msg"
"""The unit in which columns count; a test case may have another."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The instant at which a message counts as finished, for throughput and latency alike.

    ``stream`` is the stream of the record that holds it, ``latency`` the kind of its latency.
    ``points`` says where messages are counted; ``counted``, ``measured`` and ``lost`` are the
    phrases by which reports explain both, and what counts as lost.
    """

    stream: Literal["received", "round_trip"]
    latency: Literal["one-way", "round-trip"]
    points: str
    counted: str
    measured: str
    lost: str


RECEIPT = Finish(
    stream="received",
    latency="one-way",
    points=(
        "Messages are counted at 2 points: ``sent`` (attempts by the client) and ``received``"
        " (messages handled by the server)."
    ),
    counted="messages that servers received",
    measured="Latency is one way, from the client's sending to the server's handling.",
    lost="sent less received",
)
FANNED = replace(
    RECEIPT,
    points=(
        "Messages are counted at 2 points: ``sent`` (attempts by the client) and ``received``"
        " (messages handled by servers, each of which is to get every message of its topic)."
    ),
    counted="deliveries to servers",
    lost="deliveries that servers lack: sent, for each server, less received",
)
TRANSFERRED = Finish(
    stream="received",
    latency="one-way",
    points=(
        "Messages are counted at 2 points: ``sent`` (handed over by the client) and ``received``"
        " (deliveries to the server)."
    ),
    counted="messages that servers received",
    measured=(
        "Latency is one way, from the instant at which the message was due (at an offered rate) or"
        " sent (without one) to its receipt."
    ),
    lost="sent less received",
)
REPLY = Finish(
    stream="round_trip",
    latency="round-trip",
    points=(
        "Messages are counted at 3 points: ``sent`` (attempts by the client), ``received``"
        " (messages handled by the server) and ``round-trip`` (replies that the client got)."
    ),
    counted="replies that clients got",
    measured="Latency is that of the round trip, from the call to its reply.",
    lost="attempts with neither reply nor error",
)


@dataclass(frozen=True, slots=True)
class TestCase:
    """What clients do.

    ``number``, ``title``, ``short`` and ``heading`` are how reports call it.  In a ``closed_loop``
    a thread sends its next message when the last one is finished, so that Little's law and the
    scalability law apply.  Where messages are ``streamed`` a thread waits for none of them, so that
    any number of them may be under way.  ``noun`` is one of what is done, and ``unit`` what tables
    count it in.  Without ``servers`` of ours nobody counts what was received.
    """

    name: str
    number: int
    title: str
    short: str
    heading: str
    finish: Finish
    closed_loop: bool = False
    noun: str = "message"
    unit: str = MESSAGES
    servers: bool = True
    streamed: bool = False

    __test__ = False

    @property
    def replies(self) -> bool:
        """Whether servers answer."""
        return self.finish.stream == "round_trip"

    @property
    def heard(self) -> str:
        """Of which latency servers tell while the load lasts: of a round trip it is a part."""
        return "to the server" if self.replies else "one way"


TEST_CASES = Registry(
    "test_cases",
    (
        TestCase(
            "rpc-call", 1, "RPC CALL", "CALL", "RPC CALL Throughput Test", REPLY, closed_loop=True
        ),
        TestCase("rpc-cast", 2, "RPC CAST", "CAST", "RPC CAST Throughput Test", RECEIPT),
        TestCase("notify", 3, "NOTIFY", "NOTIFY", "Notification Throughput Test", RECEIPT),
        TestCase("rpc-fanout", 8, "RPC fan-out", "FAN-OUT", "RPC Fan-out Throughput Test", FANNED),
        TestCase(
            "transfer",
            7,
            "TRANSFER",
            "TRANSFER",
            "Transfer Throughput Test",
            TRANSFERRED,
            streamed=True,
        ),
    ),
    place=lambda case: case.number,
)
"""In the order of their numbers, which is that of pages."""


STANDARD = ("rpc-call", "rpc-cast", "notify")
"""Test cases of a plan that names none: those of the published reports."""


def unit_of(*test_cases: object) -> str:
    """What rows of these test cases count, ``msg`` or ``creations``: each unit that occurs, once.

    Messages where none of them is known.
    """
    units = (TEST_CASES[str(name)].unit for name in test_cases if str(name) in TEST_CASES)
    return " or ".join(dict.fromkeys(units)) or MESSAGES


def in_unit(text: str, unit: str, kept: Iterable[str] = ()) -> str:
    """The words with the unit of a test case in the place of messages: ``creations/sec``.

    ``kept`` are names in them that stay as they are, whatever units these speak of.
    """
    names = sorted(filter(None, kept), key=len, reverse=True)
    pattern = "|".join([*map(re.escape, names), rf"\b{MESSAGES}\b(?!/s\b)"])
    return re.sub(pattern, lambda match: unit if match[0] == MESSAGES else match[0], text)


def with_replies() -> set[str]:
    """Names of the test cases in which servers answer."""
    return {name for name, case in TEST_CASES.items() if case.replies}


def with_servers() -> set[str]:
    """Names of the test cases in which servers of ours count what they receive."""
    return {name for name, case in TEST_CASES.items() if case.servers}


def streams() -> set[str]:
    """Names of the test cases in which a thread waits for none of its messages."""
    return {name for name, case in TEST_CASES.items() if case.streamed}


def closed_loops() -> set[str]:
    """Names of the test cases in which a thread waits until its message is finished."""
    return {name for name, case in TEST_CASES.items() if case.closed_loop}
