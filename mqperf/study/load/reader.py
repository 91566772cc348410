"""What a load generator is to those who read what it left beside the record of messages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mqperf.record import Whole
from mqperf.record.outputs.diary import Happened
from mqperf.record.streams.stream import ByProcess


@dataclass(frozen=True, slots=True)
class Account:
    """What a generator's own output says of a run, beside the record of every message.

    Throughput and latency are by the formulas of the published reports; ``offered_msg_s`` is the
    mean rate at which clients were to send in the window; ``disagreements`` are sentences about
    what contradicts the record, and ``happened`` becomes rows of the table ``events``.
    """

    throughput_msg_s: float | None = None
    latency_mean_s: float | None = None
    offered_msg_s: float | None = None
    disagreements: Sequence[str] = ()
    happened: Sequence[Happened] = ()


@dataclass(frozen=True, slots=True)
class LoadReader:
    """What the generator of this name says itself of a whole run; the streams are of its record.

    ``account`` raises ``LoadError`` for files that are damaged, or of another run.
    """

    name: str
    account: Callable[[Whole, ByProcess], Account]
