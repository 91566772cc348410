"""A run that another tool measured, as tables: what its files say, and what they do not."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

import numpy as np
import pandas as pd

from mqperf.record.streams.hdr_log import Interval
from mqperf.study import tables
from mqperf.study.published.cells import Key
from mqperf.study.tables import Tables, within_run

UNKNOWN = "unknown"
"""What a run says of its system and layout if nobody told."""

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class About:
    """What files of other tools do not say: which system was measured, and how it was laid out."""

    system: str = UNKNOWN
    topology: str = UNKNOWN
    queues: str = UNKNOWN

    @property
    def untold(self) -> list[str]:
        """What of it is not known."""
        named = {"system": self.system, "topology": self.topology, "queues": self.queues}
        return [name for name, value in named.items() if value == UNKNOWN]


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


def assembled(measurements: Sequence[Measurement], about: About) -> Tables:
    """The tables; measurements with the same parameters are repeats of a point, in their order."""
    found: dict[str, list[pd.DataFrame]] = {"runs": [], "doubts": []}
    repeats: Counter[str] = Counter()
    for one in measurements:
        key = Key(about.system, about.topology, about.queues, one.test_case, one.threads)
        point = _point(key, one.parameters)
        repeats[point] += 1
        keys = {
            **asdict(key),
            "run": one.source,
            "point": point,
            "repeat": repeats[point],
        }
        run = {"status": "published", **one.facts, **one.parameters}
        doubts = [_doubt(note) for note in _notes(one, about)]
        frames = {"runs": pd.DataFrame([run]), "doubts": pd.DataFrame(doubts), **one.frames}
        for name, frame in frames.items():
            if len(frame):
                found.setdefault(name, []).append(frame.assign(**keys))
    return {
        name: tables.conform(name, pd.concat(parts, ignore_index=True))
        if parts
        else tables.empty(name)
        for name, parts in found.items()
    }


def throughput(received: np.ndarray, sent: np.ndarray | None) -> Row:
    """Columns of the table ``messages`` from the messages of each second of a window."""
    row: Row = {"throughput_msg_s": float(received.mean())}
    if len(received) > 1:
        row["throughput_sd_msg_s"] = float(received.std(ddof=1))
    if sent is not None:
        row["send_rate_msg_s"] = float(sent.mean())
    return row | within_run.throughput_interval(received)


def _point(key: Key, parameters: Mapping[str, object]) -> str:
    said = json.dumps(parameters, sort_keys=True).encode()
    return f"{key.point}-{sha256(said).hexdigest()[:8]}"


def _notes(one: Measurement, about: About) -> Iterator[str]:
    """What the files do not say, and nobody else did."""
    if about.untold:
        untold = ", ".join(about.untold)
        yield f"neither its files nor who imported them say what was measured: unknown is {untold}"
    yield from one.notes


def _doubt(text: str) -> Row:
    return {"kind": "incomplete", "text": text, "evidence": "{}"}
