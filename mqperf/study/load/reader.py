"""The interface of readers of a load generator's own output, besides the record of messages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mqperf.record import Whole
from mqperf.record.outputs.diary import Happened
from mqperf.record.streams.stream import ByProcess


@dataclass(frozen=True, slots=True)
class Account:
    """Figures of a run from its generator's own output, besides the record of every message.

    Throughput and latency are by the formulas of the published reports; ``offered_msg_s`` is the
    mean rate at which clients should send in the window; ``disagreements`` are sentences about
    contradictions to the record, and ``happened`` becomes rows of the table ``events``.
    """

    throughput_msg_s: float | None = None
    latency_mean_s: float | None = None
    offered_msg_s: float | None = None
    disagreements: Sequence[str] = ()
    happened: Sequence[Happened] = ()


@dataclass(frozen=True, slots=True)
class LoadReader:
    """Reads the own output of the generator with this name, of a whole run and its streams.

    ``account`` raises ``LoadError`` for files that are damaged, or of another run.
    """

    name: str
    account: Callable[[Whole, ByProcess], Account]
