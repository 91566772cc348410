"""What one process is told to do: a JSON file in the control folder, which may hold a password."""

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
    """What every process is told, whatever its generator tells it more.

    ``run`` is in every stamp, and tells the run from others.  Servers say how many messages took
    longer than each of ``limits_s``.
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
        """The name of whoever has this place in the record."""
        raise NotImplementedError


T = TypeVar("T", bound=Orders)


@dataclass(frozen=True, slots=True)
class Pace:
    """The rate of one thread, in messages a second.

    With ``ramp_to`` it changes to that by the end of the load: evenly, or in ``steps`` that differ
    by equal differences or, ``by_ratio``, by equal ratios.  In a ``cycle`` that is the first of
    steps, each a rate and its seconds, which come again and again.
    """

    rate: float
    ramp_to: float | None = None
    steps: int | None = None
    by_ratio: bool = False
    cycle: Sequence[tuple[float, int]] | None = None


@dataclass(frozen=True, slots=True)
class ThreadOrders(Orders):
    """What a process of so many threads is told; ``all_threads`` is how many all processes have.

    Without a ``pace`` each is as fast as it can.  ``message_count`` is what all threads send
    together, as evenly as it can be shared; None is as many as the load takes.  Servers consume
    from ``consume_after_s`` on; None is from before the load.
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
        """How many messages a thread sends at most."""
        if self.message_count is None:
            return NO_END
        each, more = divmod(self.message_count, self.all_threads)
        return each + (number < more)

    def sender(self, place: int) -> str:
        """The name of a thread: ``client-1.2``."""
        return sender_of(place, self.threads_per_process)


def sender_of(number: int, threads_per_process: int) -> str:
    """The name of that thread of all, which count from 0: ``client-1.2``."""
    process, thread = divmod(number, threads_per_process)
    return f"client-{process + 1}.{thread + 1}"


@dataclass(frozen=True, slots=True)
class Thread:
    """A publisher and the consumer beside it: the number over all processes, where messages go."""

    number: int
    address: str


@dataclass(frozen=True, slots=True)
class AddressOrders(ThreadOrders):
    """What a process is told whose threads have an address each."""

    threads: tuple[Thread, ...]


@dataclass(frozen=True, slots=True)
class PairOrders(AddressOrders):
    """What publishers are told, and consumers of the same addresses.

    ``confirms`` is how many messages of a thread may wait for theirs; with 0, none are asked for.
    """

    confirms: int


A = TypeVar("A", bound=AddressOrders)


def with_threads(kind: type[A], file: Path) -> A:
    """The orders of a kind in a file."""
    values = read_orders(file)
    values["threads"] = tuple(Thread(**thread) for thread in values["threads"])
    return of_kind(kind, values)


def read_orders(file: Path, broker: Callable[..., Broker] = Broker) -> dict[str, Any]:
    """What a file says, with what all are told made ready, its broker by ``broker``."""
    values: dict[str, Any] = json.loads(file.read_text())
    values["control"], values["out"] = Path(values["control"]), Path(values["out"])
    values["limits_s"] = tuple(values["limits_s"])
    values["broker"] = broker(**values["broker"])
    if values.get("pace") is not None:
        values["pace"] = Pace(**values["pace"])
    return values


def of_kind(kind: type[T], values: dict[str, Any]) -> T:
    """The orders of a kind in what a file says; what else it says is not for the program."""
    return kind(**{field.name: values[field.name] for field in fields(kind)})
