"""Test cases: what clients are asked to do, and when a message counts as finished.

Everything that differs between them is asked here; nothing else knows one by its name.
"""

from dataclasses import dataclass
from typing import Literal

from mqperf.registry import Registry


@dataclass(frozen=True, slots=True)
class Finish:
    """The instant at which a message counts as finished, for throughput and latency alike.

    ``stream`` is the stream of the record that holds it, ``latency`` the kind of its latency.
    ``counted``, ``measured`` and ``lost`` are the phrases by which reports explain both, and what
    counts as lost.
    """

    stream: Literal["received", "round_trip"]
    latency: Literal["one-way", "round-trip"]
    counted: str
    measured: str
    lost: str


RECEIPT = Finish(
    stream="received",
    latency="one-way",
    counted="messages that servers received",
    measured="Latency is one way, from the client's sending to the server's handling.",
    lost="sent less received",
)
REPLY = Finish(
    stream="round_trip",
    latency="round-trip",
    counted="replies that clients got",
    measured="Latency is that of the round trip, from the call to its reply.",
    lost="attempts with neither reply nor error",
)


@dataclass(frozen=True, slots=True)
class TestCase:
    """What clients do.

    ``number``, ``title``, ``short`` and ``heading`` are how reports call it.  In a ``closed_loop``
    a thread sends its next message when the last one is finished, so that Little's law and the
    scalability law apply.
    """

    name: str
    number: int
    title: str
    short: str
    heading: str
    finish: Finish
    closed_loop: bool

    __test__ = False

    @property
    def replies(self) -> bool:
        """Whether servers answer."""
        return self.finish is REPLY


TEST_CASES = Registry(
    "test_cases",
    (
        TestCase(
            name="rpc-call",
            number=1,
            title="RPC CALL",
            short="CALL",
            heading="RPC CALL Throughput Test",
            finish=REPLY,
            closed_loop=True,
        ),
        TestCase(
            name="rpc-cast",
            number=2,
            title="RPC CAST",
            short="CAST",
            heading="RPC CAST Throughput Test",
            finish=RECEIPT,
            closed_loop=False,
        ),
        TestCase(
            name="notify",
            number=3,
            title="NOTIFY",
            short="NOTIFY",
            heading="Notification Throughput Test",
            finish=RECEIPT,
            closed_loop=False,
        ),
    ),
)


STANDARD = tuple(TEST_CASES.own)
"""Test cases of a plan that names none: those of the published reports."""


def with_replies() -> set[str]:
    """Names of the test cases in which servers answer."""
    return {name for name, case in TEST_CASES.items() if case.replies}


def closed_loops() -> set[str]:
    """Names of the test cases in which a thread waits until its message is finished."""
    return {name for name, case in TEST_CASES.items() if case.closed_loop}
