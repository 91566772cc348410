"""The log of the probe of quotas: its format, and how it is read and validated."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from mqperf.record.logs.json_lines import json_lines

LOG = "quotas.jsonl"

Name = Annotated[str, Field(max_length=300)]
Counter = Annotated[int, Field(ge=0, le=2**53)]
Seconds = Annotated[float, Field(ge=0, le=1e15)]


class Sample(BaseModel, frozen=True, allow_inf_nan=False, defer_build=True):
    """The counters of every group at an instant, as ``onhost/recorder.py`` writes them.

    Of each group: periods, periods in which it had used up its quota, and seconds for which its
    processes waited for that reason, summed over processors.
    """

    epoch: Seconds
    groups: dict[Name, tuple[Counter, Counter, Seconds]] = Field(max_length=10_000)
    outside: tuple[Name, ...] = Field((), max_length=10_000)


def samples(file: Path) -> Iterator[Sample]:
    """Every sample; raises ``ProbeError`` with a line that is cut short, or not of this log."""
    return json_lines(file, Sample, "quotas")
