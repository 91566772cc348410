"""The ``.messages`` files: when each single message was started and finished.

A header line of JSON, then raw float64 epoch seconds: one block per stream and column, in the order
of the header.  A message is known by its start, which client and server record alike, so messages
lost or received twice can be named.

Clients have the streams ``sent`` (started), ``round_trip`` and ``error`` (started, finished);
servers have ``received`` (started at the client, finished here).  ``sent`` holds attempts: also
those that ended as errors, and those cast to a server that was not there, which the simulator takes
for a success.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqperf.errors import LoadError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = "mqperf-messages"
VERSION = 1
BYTES = 8


@dataclass(frozen=True, slots=True)
class Stream:
    """One kind of message in a file: its name, the columns that it has, and how many messages."""

    name: str
    columns: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Header:
    """What a ``.messages`` file says of itself; ``start`` is the start that a client was given."""

    label: str
    kind: str
    test_case: str
    streams: tuple[Stream, ...]
    byteorder: str
    seed: int | None
    start: float | None
    size: int


def read_header(path: Path) -> Header:
    """The header of a file; raises `LoadError` if it has none that we know."""
    try:
        with path.open("rb") as file:
            line = file.readline()
        return _header(json.loads(line), len(line))
    except FileNotFoundError:
        raise LoadError(f"{path} is missing: its process died before it could save.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise LoadError(f"{path} is no {FORMAT} file of version {VERSION}: {error}.") from error


def _header(fields: dict[str, Any], size: int) -> Header:
    if (fields["format"], fields["version"]) != (FORMAT, VERSION):
        raise ValueError(f"{fields['format']} version {fields['version']}")
    return Header(
        label=fields["label"],
        kind=fields["kind"],
        test_case=fields["test_case"],
        streams=tuple(_streams(fields["streams"])),
        byteorder=fields["byteorder"],
        seed=fields.get("seed"),
        start=fields.get("start"),
        size=size,
    )


def _streams(entries: list[dict[str, object]]) -> Iterator[Stream]:
    for entry in entries:
        columns, count = entry["columns"], entry["count"]
        if not (isinstance(columns, list) and isinstance(count, int) and count >= 0):
            raise ValueError(f"stream {entry.get('name')!r} has no columns or no count")
        yield Stream(str(entry["name"]), tuple(map(str, columns)), count)


def read_messages(path: Path) -> "dict[str, NDArray[np.float64]]":
    """By stream, an array of one row per message and one column per instant, in epoch seconds.

    The arrays are views of the file's own bytes.  Raises `LoadError` if the file is cut short or
    longer than its header says.
    """
    import numpy as np

    header = read_header(path)
    expected = header.size + BYTES * sum(len(s.columns) * s.count for s in header.streams)
    if path.stat().st_size != expected:
        raise LoadError(
            f"{path} has {path.stat().st_size} bytes where its header promises {expected}: "
            "it was cut short or changed; run the case again."
        )
    order = "<" if header.byteorder == "little" else ">"
    values = np.fromfile(path, dtype=f"{order}f8", offset=header.size)
    streams, first = {}, 0
    for stream in header.streams:
        last = first + len(stream.columns) * stream.count
        streams[stream.name] = values[first:last].reshape(len(stream.columns), -1).T
        first = last
    return streams
