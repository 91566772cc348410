"""Comparison of the tables of a bundle with those made from its runs, value by value.

Numbers that differ by less than a part in a billion are equal: processors round differently.
"""

import csv
import math
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from mqperf.base.one_line import one_line

TOLERANCE = 1e-9

SENTENCES = {
    *("text", "because", "broken_by", "cause_test", "extrapolated", "assumption"),
    *("sustained_at", "highest_at"),
}
"""Columns of sentences: the figures in them are in other columns, too."""


@dataclass
class Compared:
    """The numbers of tables and non-empty values that agree, and all differences.

    ``differ`` has values that differ, and rows that only one side has.  Differences that another
    version may have legitimately are separate: ``apart`` has tables and columns that only one side
    has, ``worded`` sentences that differ.
    """

    tables: int = 0
    agree: int = 0
    differ: list[str] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    worded: list[str] = field(default_factory=list)

    @property
    def everything(self) -> list[str]:
        """All differences."""
        return [*self.differ, *self.apart, *self.worded]


def compared(bundled: Path, again: Path) -> Compared:
    """Compare the CSV files of a bundle with those that were made again."""
    result = Compared()
    names = [{file.name for file in folder.glob("*.csv")} for folder in (bundled, again)]
    for name in sorted(names[0] | names[1]):
        if name in names[0] and name in names[1]:
            result.tables += 1
            try:
                _compare(bundled / name, again / name, result)
            except (csv.Error, UnicodeDecodeError) as error:
                result.differ.append(f"{name}: is no table: {error}")
        else:
            result.apart.append(
                f"table {name.removesuffix('.csv')}: {_side(bundled=name in names[0])}"
            )
    return result


def _compare(bundled: Path, again: Path, result: Compared) -> None:
    table = bundled.stem
    with ExitStack() as stack:
        sides = [
            csv.DictReader(stack.enter_context(file.open(newline="", encoding="utf-8")))
            for file in (bundled, again)
        ]
        columns = [tuple(side.fieldnames or ()) for side in sides]
        if len({*columns[0]}) < len(columns[0]):
            result.differ.append(f"{table}: names a column twice")
            return
        for column in sorted({*columns[0]} ^ {*columns[1]}):
            result.apart.append(f"{table}, column {column}: {_side(bundled=column in columns[0])}")
        common = [column for column in columns[0] if column in columns[1]]
        for number, (row, other) in enumerate(zip_longest(*sides), 1):
            place = f"{table}, row {number}{_run(row or other)}"
            if row is None or other is None:
                result.differ.append(f"{place}: {_side(bundled=other is None)}")
                continue
            if None in row or None in row.values():
                result.differ.append(f"{place}: has more or fewer values than columns")
            for column in common:
                if _same(row[column], other[column]):
                    result.agree += bool(row[column])
                else:
                    values = f"{row[column]} in the bundle, {other[column]} from its runs"
                    found = result.worded if column in SENTENCES else result.differ
                    found.append(one_line(f"{place}, {column}: {values}"))


def _run(row: Mapping[str, str]) -> str:
    name = row.get("run") or row.get("point")
    return f" ({name})" if name else ""


def _side(*, bundled: bool) -> str:
    return "in the bundle alone" if bundled else "not in the bundle"


def _same(a: str, b: str) -> bool:
    if a == b:
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=TOLERANCE)
    except (TypeError, ValueError):
        return False
