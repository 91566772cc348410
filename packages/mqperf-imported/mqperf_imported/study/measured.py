"""Runs that another tool measured, as tables: what their files say, and what they do not."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

import pandas as pd

from mqperf.study import tables
from mqperf.study.importer import Measurement
from mqperf.study.tables import Tables
from mqperf_imported.study.cells import Key

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


def assembled(measurements: Sequence[Measurement], about: About) -> Tables:
    """The tables; measurements with the same parameters are repeats of a point, in their order."""
    collected: dict[str, list[pd.DataFrame]] = {"runs": [], "doubts": []}
    repeats: Counter[str] = Counter()
    for measurement in measurements:
        key = Key(
            about.system, about.topology, about.queues, measurement.test_case, measurement.threads
        )
        point = _point(key, measurement.parameters)
        repeats[point] += 1
        keys = {
            **asdict(key),
            "run": measurement.source,
            "point": point,
            "repeat": repeats[point],
        }
        run = {"status": "published", **measurement.facts, **measurement.parameters}
        doubts = [_doubt(note) for note in _notes(measurement, about)]
        frames = {"runs": pd.DataFrame([run]), "doubts": pd.DataFrame(doubts), **measurement.frames}
        for name, frame in frames.items():
            if len(frame):
                collected.setdefault(name, []).append(frame.assign(**keys))
    return {
        name: tables.conform(name, pd.concat(parts, ignore_index=True))
        if parts
        else tables.empty(name)
        for name, parts in collected.items()
    }


def _point(key: Key, parameters: Mapping[str, object]) -> str:
    encoded = json.dumps(parameters, sort_keys=True).encode()
    return f"{key.point}-{sha256(encoded).hexdigest()[:8]}"


def _notes(measurement: Measurement, about: About) -> Iterator[str]:
    """What the files do not say, and nobody else did."""
    if about.untold:
        untold = ", ".join(about.untold)
        yield f"neither its files nor who imported them say what was measured: unknown is {untold}"
    yield from measurement.notes


def _doubt(text: str) -> Row:
    return {"kind": "incomplete", "text": text, "evidence": "{}"}
