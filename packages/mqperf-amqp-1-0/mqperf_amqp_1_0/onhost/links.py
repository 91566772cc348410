"""Attaches links, and encodes flows and dispositions of theirs."""

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
"""Settle modes of senders: receivers settle, or messages are sent settled."""

DYNAMIC = codec.NULL, uint(0), codec.NULL, uint(0)
"""The fields of a terminus before ``dynamic``: no address, and the default durability."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A link to be attached; ``sends`` says whether this end is the sender.

    Without an address, the other end creates one for the lifetime of the link.
    """

    handle: int
    address: str | None
    sends: bool
    settled: bool

    def attach(self) -> bytes:
        """Encode the attach frame."""
        remote = (string(self.address),) if self.address else (*DYNAMIC, codec.TRUE)
        local = (string(f"mqperf-{self.handle}"),)
        source, target = (local, remote) if self.sends else (remote, local)
        return codec.frame(
            composite(
                codec.ATTACH,
                string(f"{'to' if self.sends else 'from'}-{self.address}"),
                uint(self.handle),
                boolean(not self.sends),
                ubyte(SETTLED if self.settled else UNSETTLED),
                ubyte(0),
                composite(codec.SOURCE, *source),
                composite(codec.TARGET, *target),
                codec.NULL,
                codec.NULL,
                uint(0),
            )
        )


def attached(
    connection: Connection, link: Wanted, flowed: Callable[[Described], None]
) -> Described:
    """Attach a link; return the other end's attach.  Flows that come before go to ``flowed``.

    Raises ``Refused`` or ``Lost`` with the condition if the link is not attached.
    """
    if link.handle >= connection.handles:
        raise Refused(
            f"a session has at most {connection.handles} links here: let fewer share a connection"
        )
    connection.send(link.attach())
    while True:
        answer, _ = connection.expect(codec.ATTACH, codec.FLOW, codec.DETACH)
        if answer.code == codec.FLOW:
            connection.attend(answer)
            flowed(answer)
        elif answer.code == codec.DETACH:
            raise connection.ended(f"no link with {link.address}", answer.field(2))
        elif answer.field(6 if link.sends else 5) is not None:
            return answer  # otherwise a detach follows, with the reason


def flow(
    connection: Connection, handle: int, count: int, credit: int, *, drained: bool = False
) -> bytes:
    """Encode a flow with the windows of the session and the credit of a link."""
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
    """Encode a disposition that accepts and settles these deliveries."""
    ids = uint(first % HIGHEST), uint(last % HIGHEST)
    state = composite(codec.ACCEPTED)
    return codec.frame(composite(codec.DISPOSITION, codec.TRUE, *ids, codec.TRUE, state))


def settled(first: int, last: int) -> bytes:
    """Encode a disposition by which a sender settles deliveries with a known state."""
    ids = uint(first % HIGHEST), uint(last % HIGHEST)
    return codec.frame(composite(codec.DISPOSITION, codec.FALSE, *ids, codec.TRUE))
