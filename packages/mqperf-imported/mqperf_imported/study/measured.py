"""Assembles runs of other tools into tables, with facts that their files do not contain."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import inf

import numpy as np
import pandas as pd

from mqperf.base.errors import TableError
from mqperf.base.problems import unknown
from mqperf.plan.columns.parameters import parameter_columns
from mqperf.study import tables
from mqperf.study.importer import Measurement
from mqperf.study.tables import Tables
from mqperf_imported.study.cells import Key
from mqperf_imported.study.contradictions import beyond_limit

UNKNOWN = "unknown"
"""The system, topology or queues of a run if not given."""

Value = int | float | str
TYPES: Mapping[str, Callable[[str], Value]] = {"Int64": int, "float64": float}
"""Conversion of a parameter's text by the type of its column; other types stay text."""

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class About:
    """Facts that files of other tools do not contain: system, layout, and parameters of the load.

    ``load`` has parameters as in plans, such as ``rate_msg_s``.
    """

    system: str = UNKNOWN
    topology: str = UNKNOWN
    queues: str = UNKNOWN
    load: Mapping[str, Value] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """The names of unknown facts."""
        facts = {"system": self.system, "topology": self.topology, "queues": self.queues}
        return [name for name, value in facts.items() if value == UNKNOWN]


def intervals(process: str, stream: str, counts: np.ndarray) -> pd.DataFrame:
    """Return rows of ``intervals`` from the counts of seconds; the first of them is warm-up."""
    number = np.arange(len(counts))
    return pd.DataFrame(
        {
            "process": process,
            "stream": stream,
            "phase": np.where(number > 0, "window", "warm-up"),
            "start_s": (number - 1).astype(float),
            "count": counts,
        }
    )


def assembled(measurements: Sequence[Measurement], about: About) -> Tables:
    """Return the tables; measurements with equal parameters are repeats of a point, in order."""
    collected: dict[str, list[pd.DataFrame]] = {"runs": [], "doubts": []}
    repeats: Counter[str] = Counter()
    for measurement in measurements:
        key = Key(
            about.system, about.topology, about.queues, measurement.test_case, measurement.threads
        )
        parameters = _parameters(measurement, about.load)
        point = _point(key, parameters)
        repeats[point] += 1
        keys = {
            **asdict(key),
            "run": measurement.source,
            "point": point,
            "repeat": repeats[point],
        }
        run = {"status": "published", **measurement.facts, **parameters}
        doubts = [_doubt(note) for note in _notes(measurement, about)]
        frames = {"runs": pd.DataFrame([run]), "doubts": pd.DataFrame(doubts), **measurement.frames}
        if about.load and "messages" in frames:
            frames["messages"] = _messages_of_load(measurement, about.load)
        for name, frame in frames.items():
            if len(frame):
                collected.setdefault(name, []).append(frame.assign(**keys))
    return {
        name: tables.conform(name, pd.concat(parts, ignore_index=True))
        if parts
        else tables.empty(name)
        for name, parts in collected.items()
    }


def _parameters(measurement: Measurement, load: Mapping[str, Value]) -> Mapping[str, object]:
    """Merge parameters of files and of ``load``; raises ``TableError`` if they contradict."""
    recorded = measurement.parameters
    for name, value in load.items():
        if name in recorded and recorded[name] != value:
            raise TableError(
                f"{measurement.source}: {name} is {recorded[name]}, not {value} as --load says"
            )
    return {**recorded, **load}


def read_load(texts: Sequence[str]) -> dict[str, Value]:
    """Parse parameters ``NAME=VALUE``; raises ``TableError`` for an invalid name or value."""
    columns = parameter_columns()
    load: dict[str, Value] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in columns:
            raise TableError(f"--load {text}: {unknown('parameter', name, [*columns])}")
        try:
            parsed = TYPES.get(columns[name].dtype, str)(value)
        except ValueError:
            raise TableError(f"--load {text}: {value!r} is no number") from None
        if not isinstance(parsed, str) and not 0 <= parsed < inf:
            raise TableError(f"--load {text}: expected a number from 0 on")
        load[name] = parsed
    return load


def _messages_of_load(measurement: Measurement, load: Mapping[str, Value]) -> pd.DataFrame:
    """Return the table ``messages`` with the offered rate and contradictions of a known load."""
    frame = measurement.frames["messages"]
    if rate := load.get("rate_msg_s"):
        frame = frame.assign(offered_rate_msg_s=rate)
    if isinstance(confirms := load.get("confirms"), int):
        frames = (measurement.frames.get(name) for name in ("messages", "latency"))
        rows = (table.iloc[0].to_dict() for table in frames if table is not None)
        row = {str(name): value for each in rows for name, value in each.items()}
        known = frame.get("disagreements", pd.Series(dtype="string")).dropna()
        more = beyond_limit(row, measurement.threads, confirms)
        frame = frame.assign(disagreements="; ".join([*known, *more]) or None)
    return frame


def _point(key: Key, parameters: Mapping[str, object]) -> str:
    encoded = json.dumps(parameters, sort_keys=True).encode()
    return f"{key.point}-{sha256(encoded).hexdigest()[:8]}"


def _notes(measurement: Measurement, about: About) -> Iterator[str]:
    """Yield the unknown facts of a run, and the importer's notes."""
    if about.missing:
        missing = ", ".join(about.missing)
        yield f"neither its files nor who imported them say what was measured: unknown is {missing}"
    yield from measurement.notes


def _doubt(text: str) -> Row:
    return {"kind": "incomplete", "text": text, "evidence": "{}"}
