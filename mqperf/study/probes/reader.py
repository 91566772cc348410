"""What a probe is to those who read what it recorded."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from mqperf.record import Facts, Whole

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading


def no_rows(_run: Whole) -> Mapping[str, pd.DataFrame]:
    """For a probe that has events only."""
    return {}


def _nothing(*_of: object) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True, slots=True)
class ProbeReader:
    """What is read of the logs of a kind of probe, or of logs that are written anyway.

    ``read`` gives the rows of a whole run for tables that several probes may fill; one that is the
    probe's own is a ``Table`` that makes its rows itself.  ``events`` gives rows of the table
    ``events``, of failed attempts as well, from a run folder and its facts; their ``time_s`` is in
    epoch seconds by the clock of their ``host``, and is corrected by whoever asks.
    ``disagreements`` tells where a log contradicts what else is recorded of a whole run, and
    ``contradictions`` where its figures contradict the record of messages.
    """

    name: str
    read: Callable[[Whole], Mapping[str, pd.DataFrame]] = no_rows
    events: Callable[[Path, Facts], Iterator[dict[str, Any]]] = _nothing
    disagreements: Callable[[Whole], Iterator[str]] = _nothing
    contradictions: "Callable[[Reading], Iterator[str]]" = _nothing
