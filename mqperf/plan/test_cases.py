"""Test cases: what clients do, and when a message counts as finished.

All differences between test cases are defined here; no other code refers to one by its name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from mqperf.base.registry import Registry

MESSAGES = "msg"
"""The default unit of counts; a test case may have another."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The event at which a message counts as finished, for throughput and latency alike.

    ``stream`` is the stream of the record with this event, ``latency`` the kind of latency.
    ``points``, ``counted``, ``measured`` and ``lost`` are phrases for reports: where messages are
    counted, what throughput counts, what latency means, and what counts as lost.
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
    """A task of clients.

    Reports use its ``number``, ``title``, ``short`` and ``heading``.  In a ``closed_loop`` a thread
    sends its next message when the last one is finished, so that Little's law and the Universal
    Scalability Law apply.  Where messages are ``streamed`` a thread waits for none of them, so that
    any number may be in flight.  ``noun`` is the singular of what is counted, ``unit`` its unit in
    tables.  Without ``servers`` of mqperf received messages are not counted.
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
        """The latency that servers report during the load: only one way of a round trip."""
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
"""Test cases by name, in the order of their numbers, as pages list them."""


STANDARD = ("rpc-call", "rpc-cast", "notify")
"""Test cases of a plan that names none: those of the published reports."""


def unit_of(*test_cases: object) -> str:
    """Return the unit of counts of these test cases, ``msg`` or ``creations``; several with "or".

    It is ``msg`` where none of them is known.
    """
    units = (TEST_CASES[str(name)].unit for name in test_cases if str(name) in TEST_CASES)
    return " or ".join(dict.fromkeys(units)) or MESSAGES


def in_unit(text: str, unit: str, kept: Iterable[str] = ()) -> str:
    """Replace the unit ``msg`` in a text by that of a test case: ``creations/sec``.

    ``kept`` are names in the text that must not be changed.
    """
    names = sorted(filter(None, kept), key=len, reverse=True)
    pattern = "|".join([*map(re.escape, names), rf"\b{MESSAGES}\b(?!/s\b)"])
    return re.sub(pattern, lambda match: unit if match[0] == MESSAGES else match[0], text)


def with_replies() -> set[str]:
    """Return the names of the test cases in which servers answer."""
    return {name for name, case in TEST_CASES.items() if case.replies}


def with_servers() -> set[str]:
    """Return the names of the test cases in which servers of mqperf count what they receive."""
    return {name for name, case in TEST_CASES.items() if case.servers}


def streams() -> set[str]:
    """Return the names of the test cases in which a thread waits for none of its messages."""
    return {name for name, case in TEST_CASES.items() if case.streamed}


def closed_loops() -> set[str]:
    """Return the names of the test cases in which a thread waits until its message is finished."""
    return {name for name, case in TEST_CASES.items() if case.closed_loop}
