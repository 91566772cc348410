"""The orders of one process: a JSON file in the control folder, which may hold a password."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from mqperf_numbered.onhost.broker import Broker

NO_END = 1 << 62
"""More messages than any load has."""


@dataclass(frozen=True, slots=True)
class Orders:
    """The orders that processes of all generators have.

    ``run`` identifies the run in every stamp.  Servers report how many messages took longer than
    each of ``limits_s``.
    """

    label: str
    kind: Literal["client", "server"]
    test_case: str
    run: int
    control: Path
    out: Path
    broker: Broker
    load_s: float
    timeout_s: float
    limits_s: tuple[float, ...]

    @property
    def paced(self) -> bool:
        """Whether messages are due at instants, and not sent as fast as they can be."""
        return True

    def sender(self, place: int) -> str:
        """Return the name of the sender with this index in the record."""
        raise NotImplementedError


T = TypeVar("T", bound=Orders)


@dataclass(frozen=True, slots=True)
class Pace:
    """The rate of one thread, in messages a second.

    With ``ramp_to`` it changes to that by the end of the load: evenly, or in ``steps`` of equal
    differences or, ``by_ratio``, of equal ratios.  A ``cycle`` has steps, each a rate and its
    seconds, that repeat; ``rate`` is then that of the first.
    """

    rate: float
    ramp_to: float | None = None
    steps: int | None = None
    by_ratio: bool = False
    cycle: Sequence[tuple[float, int]] | None = None


@dataclass(frozen=True, slots=True)
class ThreadOrders(Orders):
    """The orders of a process with several threads; ``all_threads`` counts those of all processes.

    Without a ``pace`` threads send as fast as they can.  ``message_count`` is the total of all
    threads, divided as evenly as possible; None means no limit.  Servers consume from
    ``consume_after_s`` on; None means from before the load.
    """

    threads_per_process: int
    all_threads: int
    pace: Pace | None
    message_count: int | None
    consume_after_s: int | None
    payload_bytes: int

    @property
    def paced(self) -> bool:
        """Whether messages are due at instants, and not sent as fast as they can be."""
        return self.pace is not None

    def count_of(self, number: int) -> int:
        """Return the most messages that a thread sends."""
        if self.message_count is None:
            return NO_END
        each, remainder = divmod(self.message_count, self.all_threads)
        return each + (number < remainder)

    def sender(self, place: int) -> str:
        """Return the name of a thread: ``client-1.2``."""
        return sender_of(place, self.threads_per_process)


def sender_of(number: int, threads_per_process: int) -> str:
    """Return the name of a thread, such as ``client-1.2``, by its global number from 0."""
    process, thread = divmod(number, threads_per_process)
    return f"client-{process + 1}.{thread + 1}"


@dataclass(frozen=True, slots=True)
class Thread:
    """A publisher and its consumer: their number over all processes, and the address they use."""

    number: int
    address: str


@dataclass(frozen=True, slots=True)
class AddressOrders(ThreadOrders):
    """The orders of a process whose threads have an address each."""

    threads: tuple[Thread, ...]


@dataclass(frozen=True, slots=True)
class PairOrders(AddressOrders):
    """The orders of publishers, and of consumers of the same addresses.

    ``confirms`` is the most unconfirmed messages of a thread; with 0, no confirms are requested.
    """

    confirms: int


A = TypeVar("A", bound=AddressOrders)


def with_threads(kind: type[A], file: Path) -> A:
    """Read orders of a class, with threads, from a file."""
    values = read_orders(file)
    values["threads"] = tuple(Thread(**thread) for thread in values["threads"])
    return of_kind(kind, values)


def read_orders(file: Path, broker: Callable[..., Broker] = Broker) -> dict[str, Any]:
    """Read a file of orders; convert the values common to all, the broker's by ``broker``."""
    values: dict[str, Any] = json.loads(file.read_text())
    values["control"], values["out"] = Path(values["control"]), Path(values["out"])
    values["limits_s"] = tuple(values["limits_s"])
    values["broker"] = broker(**values["broker"])
    if values.get("pace") is not None:
        values["pace"] = Pace(**values["pace"])
    return values


def of_kind(kind: type[T], values: dict[str, Any]) -> T:
    """Return orders of a class from the values of a file; values without a field are ignored."""
    return kind(**{field.name: values[field.name] for field in fields(kind)})
