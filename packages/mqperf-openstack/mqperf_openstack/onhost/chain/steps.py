"""When each step of each creation began and was over, as far as this process observed it.

The file has a header line of JSON, then raw float64, one block for each column: the start of the
creation, which identifies it in every process, the number of the step, and two instants by the
clock of this host.  An instant that another process observes is NaN.
"""

import json
import sys
from array import array
from math import nan
from pathlib import Path

COLUMNS = ("creation", "step", "started", "passed")


class Steps:
    """The steps that one process observed."""

    def __init__(self, header: dict[str, object]) -> None:
        self.header = {"format": "mqperf-steps", "version": 1, "columns": COLUMNS} | header
        self.columns = tuple(array("d") for _ in COLUMNS)

    def add(self, creation: float, step: int, *, started: float = nan, passed: float = nan) -> None:
        """Add a step that this process began, or saw pass, or both."""
        for column, value in zip(self.columns, (creation, step, started, passed), strict=True):
            column.append(value)

    def save(self, path: Path) -> None:
        """Write all steps; the file appears only when it is complete."""
        count = min(map(len, self.columns))
        header = self.header | {"count": count, "byteorder": sys.byteorder}
        draft = path.with_suffix(".steps-draft")
        with draft.open("wb") as file:
            file.write(json.dumps(header).encode() + b"\n")
            for column in self.columns:
                column[:count].tofile(file)
        draft.replace(path)
