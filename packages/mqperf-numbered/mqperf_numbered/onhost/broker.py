"""The address of a broker, and the errors with which it ends a connection."""

from collections.abc import Sequence
from dataclasses import dataclass, field


class Lost(Exception):
    """The connection is lost; a new one may be opened."""


class Refused(Exception):
    """The broker refuses a request, and would refuse it again."""


@dataclass(frozen=True, slots=True)
class Broker:
    """Addresses and credentials of a broker; the first address that answers is used.

    ``authority`` is a CA certificate in PEM: if given, the connection uses TLS, and the broker's
    certificate must be signed by it.  The interval of heartbeats and the size of the receive buffer
    are the protocol's defaults if None.
    """

    addresses: Sequence[str]
    user: str
    password: str = field(repr=False)
    vhost: str
    authority: str = ""
    heartbeat_s: int | None = None
    buffer_bytes: int | None = None
