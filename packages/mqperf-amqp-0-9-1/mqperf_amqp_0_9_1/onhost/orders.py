"""The orders of one process: its threads, and how they publish and consume."""

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from mqperf_amqp_0_9_1.onhost.codec import Table
from mqperf_amqp_0_9_1.onhost.dead_letters import Strategy
from mqperf_numbered.onhost.orders import ThreadOrders, of_kind, read_orders

Acks = Literal["auto", "each", "multiple"]


@dataclass(frozen=True, slots=True)
class Thread:
    """A publisher: its number over all processes, where it sends, and its messages' queues."""

    number: int
    exchange: str
    routing_key: str
    headers: Table
    queues: tuple[str, ...]
    binding_key: str
    binding: Table


@dataclass(frozen=True, slots=True)
class Orders(ThreadOrders):
    """All orders of a process: parameters of the plan by name, and values derived from them.

    ``body`` is the plan's body; without one, bodies have ``payload_bytes``, or the lengths of
    ``payload_mix``, pairs of share and length.  Only clients read the body of ``body_file``, which
    is in the control folder.  Stamps are ``in_body``, or message-ids.  With ``log``, queues keep
    consumed messages.
    """

    threads: tuple[Thread, ...]
    channels: int
    exchange_type: str
    copies: int
    body: bytes | None
    body_file: str | None
    in_body: bool
    payload_mix: Sequence[tuple[float, int]]
    delivery: Literal["transient", "persistent"]
    unroutable: Literal["dropped", "returned"]
    ttl_ms: int | None
    confirms: int
    acks: Acks
    prefetch: int
    reject_share: float | None
    delivery_limit: int | None
    dead_letters: Strategy | None
    urgent_share: float | None
    queue_arguments: Table
    log: bool

    @property
    def places(self) -> int:
        """Senders of a thread in the record: servers have one for each copy."""
        return self.copies if self.kind == "server" else 1

    def sender(self, place: int) -> str:
        """Return a name such as ``client-1.2``, or ``client-1.2@2`` for a server's second copy."""
        thread, copy = divmod(place, self.places)
        name = ThreadOrders.sender(self, thread)
        return f"{name}@{copy + 1}" if self.places > 1 else name

    @property
    def persistent(self) -> bool:
        """Whether messages are to be written to disk."""
        return self.delivery == "persistent"

    @property
    def mandatory(self) -> bool:
        """Whether messages that no queue takes are returned."""
        return self.unroutable == "returned"


T = TypeVar("T", bound=Orders)


def read(kind: type[T], file: Path) -> T:
    """Read orders of a class from a file."""
    values = read_orders(file)
    values["threads"] = tuple(
        Thread(**{**thread, "queues": tuple(thread["queues"])}) for thread in values["threads"]
    )
    values["body"] = _body(values)
    return of_kind(kind, values)


def _body(values: dict[str, Any]) -> bytes | None:
    if values["body_file"] is not None and values["kind"] == "client":
        return b64decode((values["control"] / values["body_file"]).read_bytes())
    return None if values["payload"] is None else str(values["payload"]).encode()
