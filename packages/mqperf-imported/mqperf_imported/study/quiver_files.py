"""Reads files of an arrow of quiver: summary, transfers, and snapshots of CPU and memory.

Their instants and durations are whole milliseconds.
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
"""The operation of an arrow, by its role, with which its files' names begin."""

COLUMNS = {"sender": ["started"], "receiver": ["started", "finished"]}
"""Valid instants of each message: a sender writes 0 as that of the receipt."""

SNAPSHOT = ("at", "period", "count", "new", "latency", "cpu", "new_cpu", "rss")

MS = 1e-3
LARGEST = 10**15
"""Larger values are no plausible milliseconds."""

Count = Annotated[int, Field(ge=0)]
Instant = Annotated[int, Field(ge=0, le=LATEST_S * 1000)]
"""Milliseconds since 1970."""
Five = Annotated[list[FiniteFloat], Field(min_length=5, max_length=5)]


class Config(BaseModel):
    """The configuration of an arrow, as far as runs differ in it."""

    impl: str
    operation: str
    rate: Count = 0
    body_size: int = Field(gt=0)
    credit_window: int = Field(gt=0)
    durable: bool = False


class Results(BaseModel):
    """The results of an arrow; quartiles are the minimum, 25 %, 50 %, 75 % and the maximum."""

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
    """Return the path of an arrow's summary."""
    return folder / f"{role}-summary.json"


def read_summary(folder: Path, role: str) -> Summary:
    """Read the summary of the arrow of this role; raises ``TableError`` if it is malformed."""
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
    """Return the instants of each message of an arrow, in seconds since epoch second ``begin_s``.

    None if its transfers were not kept.
    Raises ``TableError`` for a line that is not two instants.
    """
    file = present(folder, f"{role}-transfers.csv")
    if file is None:
        return None
    lines = _numbers(file, unpacked(file), ("started", "finished"))
    return Instants((lines[COLUMNS[role]].to_numpy() - begin_s * 1000) / 1000)


def read_snapshots(folder: Path, role: str, begin_s: int) -> pd.DataFrame:
    """Return the CPU of an arrow about every 2 s: ``start_s`` and ``end_s`` since ``begin_s``.

    Further columns: ``cpu_s`` used meanwhile, and ``rss_bytes`` at the end if the arrow still ran.
    No rows if there is no such file.  Raises ``TableError`` for a damaged file.
    """
    file = folder / f"{role}-snapshots.csv"
    if not file.exists():
        return pd.DataFrame({name: [] for name in ("start_s", "end_s", "cpu_s", "rss_bytes")})
    snapshots = _numbers(file, unpacked(file, 64 * MIB), SNAPSHOT)
    if (snapshots["period"] <= 0).any():
        raise TableError(f"{file}: has a snapshot that took no time")
    end = snapshots["at"] - begin_s * 1000
    return pd.DataFrame(
        {
            "start_s": (end - snapshots["period"]) / 1000,
            "end_s": end / 1000,
            "cpu_s": snapshots["new_cpu"] / 1000,
            "rss_bytes": snapshots["rss"].where(snapshots["rss"] > 0),
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
