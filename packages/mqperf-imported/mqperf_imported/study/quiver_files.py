"""Files of an arrow of quiver: its summary, its transfers, and snapshots of its CPU and memory.

Instants and durations in them are whole milliseconds.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from mqperf.base.errors import TableError
from mqperf.base.raw import first_problem
from mqperf.record.streams.stream import Instants
from mqperf.study.tables.given import MIB, text_of
from mqperf_imported.study.contradictions import LATEST_S
from mqperf_imported.study.unpacked import present, unpacked

ROLES = {"sender": "send", "receiver": "receive"}
"""What an arrow does, by the name that its files begin with."""

COLUMNS = {"sender": ["started"], "receiver": ["started", "finished"]}
"""Instants of each message that count: a sender writes 0 for that of the receipt."""

SNAPSHOT = ("at", "period", "count", "new", "latency", "cpu", "new_cpu", "rss")

MS = 1e-3
LARGEST = 10**15
"""Instants beyond are no milliseconds of any clock."""

Count = Annotated[int, Field(ge=0)]
Instant = Annotated[int, Field(ge=0, le=LATEST_S * 1000)]
"""Milliseconds since 1970."""
Five = Annotated[list[FiniteFloat], Field(min_length=5, max_length=5)]


class Config(BaseModel):
    """What an arrow was asked to do, as far as that tells runs apart."""

    impl: str
    operation: str
    rate: Count = 0
    body_size: int = Field(gt=0)
    credit_window: int = Field(gt=0)
    durable: bool = False


class Results(BaseModel):
    """What it found; quartiles are the least, 25 %, 50 %, 75 % and the largest."""

    first_send_time: Instant | None = None
    last_send_time: Instant | None = None
    first_receive_time: Instant | None = None
    last_receive_time: Instant | None = None
    message_count: Count
    message_rate: FiniteFloat | None = None
    latency_average: FiniteFloat | None = None
    latency_quartiles: Five | None = None
    latency_nines: Five | None = None


class Summary(BaseModel):
    """The summary of one arrow."""

    config: Config
    results: Results


def summary_file(folder: Path, role: str) -> Path:
    """Where an arrow writes it."""
    return folder / f"{role}-summary.json"


def read_summary(folder: Path, role: str) -> Summary:
    """The summary of the arrow of this role; raises ``TableError`` for what is none."""
    file = summary_file(folder, role)
    try:
        summary = Summary.model_validate_json(text_of(file, file, MIB))
    except ValidationError as error:
        raise TableError(f"{file}: is no summary of quiver: {first_problem(error)}") from None
    if summary.config.operation != ROLES[role]:
        raise TableError(
            f"{file}: is of an arrow that did {summary.config.operation}, not {ROLES[role]}"
        )
    return summary


def read_transfers(folder: Path, role: str, begin_s: int) -> Instants | None:
    """Every message of the arrow, in seconds since ``begin_s``, an epoch second.

    None where its transfers are not there.
    Raises ``TableError`` for a line that is not two instants.
    """
    file = present(folder, f"{role}-transfers.csv")
    if file is None:
        return None
    lines = _numbers(file, unpacked(file), ("started", "finished"))
    return Instants((lines[COLUMNS[role]].to_numpy() - begin_s * 1000) / 1000)


def read_snapshots(folder: Path, role: str, begin_s: int) -> pd.DataFrame:
    """CPU of the arrow about every 2 s: ``start_s`` and ``end_s`` since ``begin_s``.

    Further columns: ``cpu_s``, used meanwhile, and ``rss_bytes`` at the end, where the arrow lived.
    No rows where there is no such file.  Raises ``TableError`` for one that is damaged.
    """
    file = folder / f"{role}-snapshots.csv"
    if not file.exists():
        return pd.DataFrame({name: [] for name in ("start_s", "end_s", "cpu_s", "rss_bytes")})
    taken = _numbers(file, unpacked(file, 64 * MIB), SNAPSHOT)
    if (taken["period"] <= 0).any():
        raise TableError(f"{file}: has a snapshot that took no time")
    end = taken["at"] - begin_s * 1000
    return pd.DataFrame(
        {
            "start_s": (end - taken["period"]) / 1000,
            "end_s": end / 1000,
            "cpu_s": taken["new_cpu"] / 1000,
            "rss_bytes": taken["rss"].where(taken["rss"] > 0),
        }
    )


def _numbers(file: Path, content: bytes, columns: Sequence[str]) -> pd.DataFrame:
    try:
        numbers = pd.read_csv(BytesIO(content), header=None, dtype="int64")
    except (ValueError, OverflowError) as error:
        raise TableError(f"{file}: has a line that is not whole numbers: {error}") from None
    if len(numbers.columns) != len(columns) or (numbers.abs() > LARGEST).any(axis=None):
        raise TableError(f"{file}: has lines that are not {', '.join(columns)} in milliseconds")
    return numbers.set_axis(list(columns), axis="columns")
