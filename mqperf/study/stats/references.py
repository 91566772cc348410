"""What the figure of a folder is compared with: the folders before it, since the last change.

A neighbour alone hides what changes slowly.  So a folder is compared with a reference, the mean of
the first ``MOST`` folders since the series last changed, on the scale of logarithms.  The error of
the difference has two parts: that of the means over the repeats, and what a machine differs by from
day to day, which repeats do not show.  The variance between days is half of the mean square of
successive differences (J. von Neumann, Distribution of the Ratio of the Mean Square Successive
Difference to the Variance, 1941), which a slow drift does not inflate, less what the repeats
explain.  Where days are few it is mostly that of ``BETWEEN``, which weighs as much as ``WEIGHT``
differences (G. K. Smyth, Linear Models and Empirical Bayes Methods, 2004).  The degrees of freedom
of both parts together are Satterthwaite's (1946).  All of it is known when a folder is measured:
later ones change nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean
from typing import Any

MOST = 5
"""Folders that make a reference."""

BETWEEN = 0.015
"""Standard deviation of the logarithm from day to day, as far as a history does not tell it."""

WEIGHT = 10
"""How many differences between days that is worth."""

LEAST = 0.5
"""The share of ``BETWEEN`` that a history does not go below."""

EFFICIENCY = 2 / 3
"""Degrees of freedom of each successive difference, for normal noise."""

SIDE = (
    *("folder", "repeats", "value", "unsure", "log", "variance", "low", "high", "starts"),
    *("point", "doubts"),
)
"""What a pair has of each of its sides."""

Row = Mapping[Any, Any]


@dataclass(slots=True)
class Series:
    """A figure of a point on one machine, folder after folder.

    ``rows`` are of the folders since its last change; ``days`` the variances between two days, one
    of each step that was no change.
    """

    rows: list[Row] = field(default_factory=list)
    days: list[float] = field(default_factory=list)

    def pair(self, row: Row, keys: Sequence[str]) -> dict[str, Any]:
        """The row of a folder (B) beside its reference (A), with the error of their difference.

        A single run is compared with the folder before alone: how far days differ is not known.
        """
        known = self.rows[:MOST] if _repeated(row, *self.rows) else self.rows[-1:]
        sides = {"a": _pooled(known, self.rows[-1]), "b": row}
        error, freedom = self._error(row, known)
        return {
            **{name: row[name] for name in (*keys, "figure", "folder_place")},
            **{f"{name}_{side}": one[name] for side, one in sides.items() for name in SIDE},
            "reference_folders": len(known),
            "step_ratio": row["value"] / self.rows[-1]["value"],
            "error": error,
            "freedom": freedom,
        }

    def add(self, row: Row, *, changed: bool) -> None:
        """Go on with the next folder; after a change with it alone."""
        if self.rows and not changed:
            last = self.rows[-1]
            explained = (_of_mean(row) + _of_mean(last)) / 2
            self.days.append((row["log"] - last["log"]) ** 2 / 2 - explained)
        self.rows = [row] if changed else [*self.rows, row]

    def _error(self, row: Row, known: Sequence[Row]) -> tuple[float, float]:
        """The error of the difference, and its degrees of freedom."""
        between = (WEIGHT * BETWEEN**2 + sum(self.days)) / (WEIGHT + len(self.days))
        days = max(between, (LEAST * BETWEEN) ** 2) * (1 + 1 / len(known))
        variance, freedom = _between_runs(row, *self.rows)
        own = row["variance"] if _repeated(row) else 0.0  # one disturbed repeat makes it large
        runs = max(variance, own) / row["repeats"] + variance / sum(one["repeats"] for one in known)
        parts = days**2 / (WEIGHT + EFFICIENCY * len(self.days)) + runs**2 / max(1, freedom)
        return sqrt(days + runs), (days + runs) ** 2 / parts


def _pooled(known: Sequence[Row], last: Row) -> Row:
    """The folders of a reference as one, which is named after the last folder before."""
    kinds = dict.fromkeys(kind for one in known for kind in one["doubts"].split(", ") if kind)
    return {
        **last,
        "repeats": sum(one["repeats"] for one in known),
        "value": fmean(one["value"] for one in known),
        "log": fmean(one["log"] for one in known),
        "unsure": max(one["unsure"] for one in known),
        "doubts": ", ".join(kinds),
    }


def _between_runs(*rows: Row) -> tuple[float, int]:
    """The variance of the logarithm between the repeats of a folder, and its freedom."""
    told = [row for row in rows if _repeated(row)]
    freedom = sum(row["repeats"] - 1 for row in told)
    squares = sum(row["variance"] * (row["repeats"] - 1) for row in told)
    return (squares / freedom if freedom else 0.0), freedom


def _of_mean(row: Row) -> float:
    """The variance of a mean over repeats; that of a single run is not known."""
    return float(row["variance"] / row["repeats"]) if _repeated(row) else 0.0


def _repeated(*rows: Row) -> bool:
    return all(row["repeats"] > 1 for row in rows)
