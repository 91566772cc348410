"""The record of one process: when each of its messages was started and finished.

Instants are appended to plain arrays of float64 (8 bytes each) and written once, when the process
ends.
"""

import json
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path

COLUMNS = {"sent": ("started",)} | dict.fromkeys(
    ("round_trip", "error", "received", "handover", "service"), ("started", "finished")
)
"""The instants that are recorded of each message, by stream."""


class Record:
    """The streams of one process, with the instants of each message."""

    def __init__(self, header: dict[str, object], streams: Sequence[str]) -> None:
        self.header = {"format": "mqperf-messages", "version": 1} | header
        self.streams = {name: tuple(array("d") for _ in COLUMNS[name]) for name in streams}

    @property
    def received(self) -> int:
        """Messages that this server has received so far."""
        return len(self.streams["received"][0])

    def add(self, stream: str, *instants: float) -> None:
        """Add a message, with an instant for each column of its stream."""
        for column, instant in zip(self.streams[stream], instants, strict=True):
            column.append(instant)

    def save(self, path: Path) -> None:
        """Write the header line and one block of raw float64 for each stream and column."""
        counts = {name: min(map(len, columns)) for name, columns in self.streams.items()}
        streams = [{"name": n, "columns": COLUMNS[n], "count": counts[n]} for n in self.streams]
        header = self.header | {"streams": streams, "byteorder": sys.byteorder}
        draft = path.with_suffix(".messages-draft")
        with draft.open("wb") as file:
            file.write(json.dumps(header).encode() + b"\n")
            for name, columns in self.streams.items():
                for column in columns:
                    column[: counts[name]].tofile(file)
        draft.replace(path)
