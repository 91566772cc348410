"""Where a broker is, and how it may end a connection."""

from collections.abc import Sequence
from dataclasses import dataclass, field


class Lost(Exception):
    """The connection is gone; another one may be opened."""


class Refused(Exception):
    """The broker refuses what is asked of it: it would do so again."""


@dataclass(frozen=True, slots=True)
class Broker:
    """Where and as whom to connect; the first address that answers is taken.

    With ``authority``, a certificate in PEM, by TLS: the other end's must be signed by it.
    How often heartbeats are asked for, and how much is taken in at once, is the protocol's choice
    where it is None.
    """

    addresses: Sequence[str]
    user: str
    password: str = field(repr=False)
    vhost: str
    authority: str = ""
    heartbeat_s: int | None = None
    buffer_bytes: int | None = None
