"""Importers: how the results of other tools are detected and read."""

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

    ``facts`` are columns of the table ``runs``; ``parameters`` are those that distinguish points.
    ``frames`` are further tables without the columns that identify the run.  ``histograms`` are
    its latencies over time.  ``notes`` state the limitations of its numbers.
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
    """Columns of the table ``messages`` from the message counts of each second of a window."""
    row: dict[str, object] = {"throughput_msg_s": float(received.mean())}
    if len(received) > 1:
        row["throughput_sd_msg_s"] = float(received.std(ddof=1))
    if sent is not None:
        row["send_rate_msg_s"] = float(sent.mean())
    return row | within_run.throughput_interval(received)


@dataclass(frozen=True, slots=True)
class Importer:
    """A tool: ``name`` is the generator in its runs, ``title`` and ``link`` are shown on pages.

    ``known_by`` is the file that identifies a run of it, for messages.  ``holds`` returns whether a
    folder or file is such a run; ``read`` reads it, given its label.
    """

    name: str
    title: str
    link: str
    known_by: str
    holds: Callable[[Path], bool]
    read: Callable[[Path, str], Measurement]


IMPORTERS: Registry[Importer] = Registry("importers")
"""All are provided by packages, as is the command that uses them."""
