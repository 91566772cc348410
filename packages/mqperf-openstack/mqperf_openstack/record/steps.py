"""The ``.steps`` files: when each step of each creation began and was over.

A header line of JSON with the chain as it was run, then raw float64: one block per column, in the
order of the header.  Instants are by the host's own clock, NaN where another process observed them;
``creation`` is the start of the creation by the client's clock, as in ``.messages`` files.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from mqperf.base import raw
from mqperf.base.errors import LoadError
from mqperf.record.load_file import opened
from mqperf_openstack.onhost.chain.steps import COLUMNS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BYTES = 8
HEADER_LIMIT_BYTES = 1_048_576

Text = Annotated[str, Field(max_length=200)]
Kind = Literal["call", "cast", "fan-out"]


class StepFacts(BaseModel, frozen=True, strict=True):
    """A step as it was run."""

    step: Text
    kind: Kind
    sender: Text = Field(alias="from")
    receiver: Text = Field(alias="to")
    moves: bool
    meanwhile: list[int] = Field(max_length=1_000)
    round_trips: float = Field(ge=0, le=1)


class Header(BaseModel, frozen=True, strict=True):
    """The header of a ``.steps`` file."""

    format: Literal["mqperf-steps"]
    version: Literal[1]
    label: Text
    kind: Text
    chain: Text
    steps: list[StepFacts] = Field(min_length=1, max_length=1_000)
    columns: tuple[Text, Text, Text, Text]
    count: int = Field(ge=0, le=2**40)
    byteorder: Literal["little", "big"]


def file_of(folder: Path, label: str) -> Path:
    """Return the path of a process's ``.steps`` file."""
    return folder / f"{label}.steps"


def read_header(path: Path) -> tuple[Header, int]:
    """Return a file's header and its length; raise ``LoadError`` unless the file fits it."""
    with opened(path, raw.MESSAGES_LIMIT_BYTES) as file:
        line, size = file.readline(HEADER_LIMIT_BYTES), path.stat().st_size
    try:
        header = Header.model_validate_json(line)
    except ValidationError as error:
        raise LoadError(
            f"{path} is no mqperf-steps file of version 1: {raw.first_problem(error)}."
        ) from None
    expected = len(line) + BYTES * len(COLUMNS) * header.count
    if header.columns != COLUMNS or size != expected:
        raise LoadError(
            f"{path} has {size} bytes where its header promises {expected}: it was cut short or"
            " changed; run the case again."
        )
    return header, len(line)


def read_steps(path: Path) -> "tuple[Header, NDArray[np.float64]]":
    """Return the header, and a row for each step that the process observed."""
    import numpy as np

    header, header_bytes = read_header(path)
    order = "<" if header.byteorder == "little" else ">"
    try:
        values = np.fromfile(path, dtype=f"{order}f8", offset=header_bytes)
    except (OSError, MemoryError):
        raise LoadError(f"{path} cannot be read.") from None
    rows = values.reshape(len(COLUMNS), -1).T
    steps = rows[:, 1]
    if not np.isfinite(rows[:, :2]).all() or not np.isin(steps, range(len(header.steps))).all():
        raise LoadError(f"{path}: a step is none of the {len(header.steps)} of its header.")
    return header, rows
