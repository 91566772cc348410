"""The diaries of load processes, ``LABEL.json``: their events, and counts of incidents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from mqperf.base import raw
from mqperf.base.errors import LoadError
from mqperf.plan.load import Kind
from mqperf.record.counts_lines import read_header
from mqperf.record.facts import LATEST, WIDEST
from mqperf.record.load_file import opened

LIMIT_BYTES = 10 * raw.MIB


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of a load process; ``time`` is in epoch seconds of its own host's clock."""

    label: str
    time: float
    what: str
    detail: Mapping[str, JsonValue] = field(default_factory=dict)


class Entry(BaseModel, frozen=True, strict=True, extra="allow", defer_build=True):
    """An event in a diary; further keys are its details."""

    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    time: float = Field(ge=0, le=LATEST)
    what: str = Field(max_length=100)


class Diary(BaseModel, frozen=True, strict=True, defer_build=True):
    """The content of ``LABEL.json``."""

    format: str = Field(pattern=r"^mqperf-[a-z0-9.-]+$", max_length=100)
    version: Literal[1]
    label: str
    kind: str
    counts: Mapping[str, Annotated[int, Field(ge=0, le=WIDEST)]]
    events: list[Entry] = Field(max_length=1_000)

    def happened(self) -> Iterator[Happened]:
        """Yield its events."""
        for entry in self.events:
            yield Happened(self.label, entry.time, entry.what, entry.__pydantic_extra__)


def check(generator: str, folder: Path, label: str, kind: Kind) -> None:
    """Raise ``LoadError`` unless a process of this generator left valid counts and a diary."""
    header = read_header(folder / f"{label}.counts")
    diary = read_diary(generator, folder, label)
    if (header.label, diary.label, diary.kind) != (label, label, kind):
        raise LoadError(f"{folder / label}.json: it is of {diary.label}, a {diary.kind}")


def read_diary(generator: str, folder: Path, label: str) -> Diary:
    """Read the diary of a process; raises ``LoadError`` for one that is missing or damaged."""
    path = folder / f"{label}.json"
    try:
        with opened(path, LIMIT_BYTES) as file:
            diary = Diary.model_validate_json(file.read())
    except ValidationError as error:
        raise LoadError(f"{path}: no diary of a process: {raw.first_problem(error)}") from None
    if diary.format != f"mqperf-{generator}":
        raise LoadError(f"{path}: it is of another generator: {diary.format}")
    return diary
