"""Importers: how what another tool measured is known, and read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mqperf.base.registry import Registry
from mqperf.record.streams.hdr_log import Interval
from mqperf.study.tables import within_run


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """One run of a tool.

    ``facts`` are columns of the table ``runs``, of which ``parameters`` tell points apart.
    ``frames`` are further tables without the columns that say which run a row is of.
    ``histograms`` are its latencies over time.  ``notes`` say what its numbers are not.
    """

    source: str
    test_case: str
    threads: int
    parameters: Mapping[str, object]
    facts: Mapping[str, object]
    frames: Mapping[str, pd.DataFrame]
    histograms: Sequence[Interval] = ()
    notes: Sequence[str] = ()


def throughput(received: np.ndarray, sent: np.ndarray | None) -> dict[str, object]:
    """Columns of the table ``messages`` from the messages of each second of a window."""
    row: dict[str, object] = {"throughput_msg_s": float(received.mean())}
    if len(received) > 1:
        row["throughput_sd_msg_s"] = float(received.std(ddof=1))
    if sent is not None:
        row["send_rate_msg_s"] = float(sent.mean())
    return row | within_run.throughput_interval(received)


@dataclass(frozen=True, slots=True)
class Importer:
    """A tool; ``name`` is what runs call their generator, ``title`` and ``link`` what pages do.

    ``known_by`` is the file by which a run of it is known, for messages.  ``holds`` tells whether a
    folder, or a file, is such a run; ``read`` reads it, called as it is told.
    """

    name: str
    title: str
    link: str
    known_by: str
    holds: Callable[[Path], bool]
    read: Callable[[Path, str], Measurement]


IMPORTERS: Registry[Importer] = Registry("importers")
"""All come with packages, as does the command that asks them."""
