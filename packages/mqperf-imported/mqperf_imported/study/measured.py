"""Runs that another tool measured, as tables: what their files say, and what they do not."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import inf

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
"""What a run says of its system and layout if nobody told."""

Value = int | float | str
TYPES: Mapping[str, Callable[[str], Value]] = {"Int64": int, "float64": float}
"""How a parameter is read, by the type of its column; all others are words."""

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class About:
    """What files of other tools do not say: what was measured, how it was laid out, and the load.

    ``load`` are parameters as plans have them, such as ``rate_msg_s``.
    """

    system: str = UNKNOWN
    topology: str = UNKNOWN
    queues: str = UNKNOWN
    load: Mapping[str, Value] = field(default_factory=dict)

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
            frames["messages"] = _by_load(measurement, about.load)
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
    """What the files say of the load, and what they do not; raises ``TableError`` for two ways."""
    of_files = measurement.parameters
    for name, value in load.items():
        if name in of_files and of_files[name] != value:
            raise TableError(
                f"{measurement.source}: {name} is {of_files[name]}, not {value} as --load says"
            )
    return {**of_files, **load}


def read_load(texts: Sequence[str]) -> dict[str, Value]:
    """Parameters as ``NAME=VALUE``; raises ``TableError`` for a name or value that is none."""
    columns = parameter_columns()
    load: dict[str, Value] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in columns:
            raise TableError(f"--load {text}: {unknown('parameter', name, [*columns])}")
        try:
            read = TYPES.get(columns[name].dtype, str)(value)
        except ValueError:
            raise TableError(f"--load {text}: {value!r} is no number") from None
        if not isinstance(read, str) and not 0 <= read < inf:
            raise TableError(f"--load {text}: expected a number from 0 on")
        load[name] = read
    return load


def _by_load(measurement: Measurement, load: Mapping[str, Value]) -> pd.DataFrame:
    """The table ``messages`` of a run whose load is known: what was offered, what cannot be."""
    frame = measurement.frames["messages"]
    if rate := load.get("rate_msg_s"):
        frame = frame.assign(offered_rate_msg_s=rate)
    if isinstance(confirms := load.get("confirms"), int):
        frames = (measurement.frames.get(name) for name in ("messages", "latency"))
        parts = (part.iloc[0].to_dict() for part in frames if part is not None)
        row = {str(name): value for part in parts for name, value in part.items()}
        known = frame.get("disagreements", pd.Series(dtype="string")).dropna()
        more = beyond_limit(row, measurement.threads, confirms)
        frame = frame.assign(disagreements="; ".join([*known, *more]) or None)
    return frame


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
