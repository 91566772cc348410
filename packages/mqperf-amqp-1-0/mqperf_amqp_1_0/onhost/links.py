"""Links: how they are attached, and what is said of them afterwards."""

from collections.abc import Callable
from dataclasses import dataclass

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import (
    HIGHEST,
    Described,
    boolean,
    composite,
    string,
    ubyte,
    uint,
)
from mqperf_amqp_1_0.onhost.connection import WINDOW, Connection
from mqperf_numbered.onhost.broker import Refused

UNSETTLED, SETTLED = 0, 1
"""How senders send: so that receivers settle, or settled already."""

DYNAMIC = codec.NULL, uint(0), codec.NULL, uint(0)
"""What comes before the field that asks for an address: none, and no wish how durable it is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A link as it is asked for; ``sends`` is our side of it.

    Without an address, one is made for as long as the link is there.
    """

    handle: int
    address: str | None
    sends: bool
    settled: bool

    def attach(self) -> bytes:
        """The frame that asks for it."""
        there = (string(self.address),) if self.address else (*DYNAMIC, codec.TRUE)
        here = (string(f"mqperf-{self.handle}"),)
        ends = (here, there) if self.sends else (there, here)
        return codec.frame(
            composite(
                codec.ATTACH,
                string(f"{'to' if self.sends else 'from'}-{self.address}"),
                uint(self.handle),
                boolean(not self.sends),
                ubyte(SETTLED if self.settled else UNSETTLED),
                ubyte(0),
                composite(codec.SOURCE, *ends[0]),
                composite(codec.TARGET, *ends[1]),
                codec.NULL,
                codec.NULL,
                uint(0),
            )
        )


def attached(
    connection: Connection, wanted: Wanted, flowed: Callable[[Described], None]
) -> Described:
    """The other end's attach; flows that come first go to ``flowed``.

    Raises ``Refused`` or ``Lost`` with the condition when there is to be no link.
    """
    if wanted.handle >= connection.handles:
        raise Refused(
            f"a session has at most {connection.handles} links here: let fewer share a connection"
        )
    connection.send(wanted.attach())
    while True:
        answer, _ = connection.expect(codec.ATTACH, codec.FLOW, codec.DETACH)
        if answer.code == codec.FLOW:
            connection.attend(answer)
            flowed(answer)
        elif answer.code == codec.DETACH:
            raise connection.ended(f"no link with {wanted.address}", answer.field(2))
        elif answer.field(6 if wanted.sends else 5) is not None:
            return answer  # else a detach follows, which says why


def flow(
    connection: Connection, handle: int, count: int, credit: int, *, drained: bool = False
) -> bytes:
    """A frame that tells what the session and one of its links take."""
    return codec.frame(
        composite(
            codec.FLOW,
            uint(connection.incoming % HIGHEST),
            uint(WINDOW),
            uint(connection.outgoing % HIGHEST),
            uint(WINDOW),
            uint(handle),
            uint(count % HIGHEST),
            uint(credit),
            codec.NULL,
            boolean(drained),
        )
    )


def accepted(first: int, last: int) -> bytes:
    """A frame that accepts these deliveries, and settles them."""
    ids = uint(first % HIGHEST), uint(last % HIGHEST)
    state = composite(codec.ACCEPTED)
    return codec.frame(composite(codec.DISPOSITION, codec.TRUE, *ids, codec.TRUE, state))


def settled(first: int, last: int) -> bytes:
    """A frame by which a sender settles what the other end has told the state of."""
    ids = uint(first % HIGHEST), uint(last % HIGHEST)
    return codec.frame(composite(codec.DISPOSITION, codec.FALSE, *ids, codec.TRUE))
