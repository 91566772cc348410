"""The interface of readers of a probe's recordings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from mqperf.record import Facts, Whole

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading


def no_rows(_run: Whole) -> Mapping[str, pd.DataFrame]:
    """The ``read`` of a probe that has only events."""
    return {}


def _no_items(*_args: object) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True, slots=True)
class ProbeReader:
    """Reads the logs of a kind of probe, or logs that a system writes anyway.

    ``read`` returns the rows of a whole run for tables that several probes may fill; a table of one
    probe only is a ``Table`` that makes its own rows.  ``events`` yields rows of the table
    ``events``, of failed attempts as well, from a run folder and its facts; their ``time_s`` is in
    epoch seconds by the clock of their ``host``, and is corrected by the caller.
    ``disagreements`` yields contradictions between a log and the other records of a whole run,
    ``contradictions`` those between its figures and the record of messages.
    """

    name: str
    read: Callable[[Whole], Mapping[str, pd.DataFrame]] = no_rows
    events: Callable[[Path, Facts], Iterator[dict[str, Any]]] = _no_items
    disagreements: Callable[[Whole], Iterator[str]] = _no_items
    contradictions: "Callable[[Reading], Iterator[str]]" = _no_items
