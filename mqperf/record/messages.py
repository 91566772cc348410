"""The ``.messages`` files: when each single message was started and finished.

A header line of JSON, then raw float64 epoch seconds: one block per stream and column, in the order
of the header.  A message is identified by its start, which client and server both record, so that
lost and duplicate messages can be found.

Clients have the streams ``sent`` (started), ``round_trip`` and ``error`` (started, finished);
servers have ``received`` (started at the client, finished at the server).  At an offered rate the
start of a message is when it is due; clients then also have ``handover`` (due, sent), and the
process that finishes messages has ``service`` (sent, finished).  ``sent`` holds all attempts: also
those that ended as errors, and casts to a missing server, which the simulator counts as success.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from mqperf.base import raw
from mqperf.base.errors import LoadError
from mqperf.record.load_file import opened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = "mqperf-messages"
VERSION = 1
BYTES = 8
HEADER_LIMIT_BYTES = 65_536

Name = Annotated[str, Field(max_length=200)]


class Stream(BaseModel, frozen=True, strict=True, defer_build=True):
    """A stream in the header: its name, its columns, and its number of messages."""

    name: Name
    columns: tuple[Name, ...] = Field(min_length=1, max_length=10)
    count: int = Field(ge=0, le=2**53)


class Header(BaseModel, frozen=True, strict=True, defer_build=True):
    """The header line; ``start`` is the start of the load that a client was given."""

    format: Literal["mqperf-messages"]
    version: Literal[1]
    label: Name
    kind: Name
    test_case: Name
    streams: tuple[Stream, ...] = Field(max_length=100)
    byteorder: Literal["little", "big"]
    start: Annotated[float, Field(allow_inf_nan=False)] | None = None
    size: int = 0


def read_header(path: Path) -> Header:
    """Read the header of a file, ``size`` being its length; raises `LoadError` if it is invalid."""
    with opened(path, raw.MESSAGES_LIMIT_BYTES) as file:
        line = file.readline(HEADER_LIMIT_BYTES)
    try:
        return Header.model_validate_json(line).model_copy(update={"size": len(line)})
    except ValidationError as error:
        raise LoadError(
            f"{path} is no {FORMAT} file of version {VERSION}: {raw.first_problem(error)}."
        ) from None


def read_messages(path: Path) -> "dict[str, NDArray[np.float64]]":
    """Return by stream an array of one row per message, one column per instant, in epoch seconds.

    The arrays are views of the file's own bytes.  Raises `LoadError` if the file is cut short or
    longer than its header says, or an instant is no finite number.
    """
    return read_all(path)[1]


def read_all(path: Path) -> "tuple[Header, dict[str, NDArray[np.float64]]]":
    """Return the results of ``read_header`` and of ``read_messages``."""
    import numpy as np

    header = read_header(path)
    expected = header.size + BYTES * sum(len(s.columns) * s.count for s in header.streams)
    if path.stat().st_size != expected:
        raise LoadError(
            f"{path} has {path.stat().st_size} bytes where its header promises {expected}: "
            "it was cut short or changed; run the case again."
        )
    order = "<" if header.byteorder == "little" else ">"
    try:
        with opened(path, raw.MESSAGES_LIMIT_BYTES):
            values = np.fromfile(path, dtype=f"{order}f8", offset=header.size)
    except MemoryError:
        raise LoadError(f"{path} cannot be read: it does not fit into memory.") from None
    if not np.isfinite(values).all():
        byte = header.size + BYTES * int(np.flatnonzero(~np.isfinite(values))[0])
        raise LoadError(f"{path}: the instant at byte {byte} is no finite number.")
    streams, first = {}, 0
    for stream in header.streams:
        last = first + len(stream.columns) * stream.count
        streams[stream.name] = values[first:last].reshape(len(stream.columns), -1).T
        first = last
    return header, streams
