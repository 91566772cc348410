"""The reference that a folder's figure is compared with: earlier folders since the last change.

Comparison with the previous folder alone would hide slow changes.  So a folder is compared with a
reference, the mean of the first ``MOST`` folders since the series last changed, on the scale of
logarithms.  The folder after a change is compared with the reference before the change if it is
nearer to that: one bad day is one change, and the series continues as before.

The error of the difference has two parts: that of the means over the repeats, and the variation of
a machine from day to day, which repeats do not show.  The variance between days is half of the
mean square of successive differences (J. von Neumann, Distribution of the Ratio of the Mean Square
Successive Difference to the Variance, 1941), which a slow drift does not inflate, less what the
repeats explain.  It starts at ``BETWEEN`` squared, which weighs as much as ``WEIGHT`` differences
(G. K. Smyth, Linear Models and Empirical Bayes Methods, 2004), and is never less.  Few days give a
poor estimate, so it is also at least the median over all points of the same figure.  The degrees of
freedom of both parts together are Satterthwaite's (1946).  All of it is known when a folder is
measured: later folders change nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean
from typing import Any

MOST = 5
"""The most folders in a reference."""

BETWEEN = 0.015
"""Least standard deviation of the logarithm from day to day."""

WEIGHT = 5
"""The number of differences between days that ``BETWEEN`` weighs, where a history shows more."""

FREEDOM = 10
"""Degrees of freedom of the variance between days before any day is compared."""

EFFICIENCY = 2 / 3
"""Degrees of freedom of each successive difference, for normal noise."""

OUTLYING = 3
"""Standard deviations between days to which a change is limited as a difference of days."""

SIDE = (
    *("folder", "repeats", "value", "unsure", "log", "variance", "low", "high", "starts"),
    *("point", "doubts"),
)
"""Columns that a pair has for each of its sides."""

Row = Mapping[Any, Any]


@dataclass(slots=True)
class Series:
    """A figure of a point on one machine, folder after folder.

    ``rows`` are of the folders since its last change; ``earlier`` are of those before the change,
    while only one folder follows it; ``days`` are the variances between two days, one per step.
    """

    rows: list[Row] = field(default_factory=list)
    earlier: list[Row] = field(default_factory=list)
    days: list[float] = field(default_factory=list)

    def reference(self, row: Row) -> Sequence[Row]:
        """The folders whose mean a folder is compared with; none for the first folder.

        A folder with one run is compared only with the folder before: its variance is not known.
        """
        return _reference(self._continued(row), row)

    def between(self) -> float:
        """The variance between days, estimated from this series alone."""
        estimate = (WEIGHT * BETWEEN**2 + sum(self.days)) / (WEIGHT + len(self.days))
        return max(estimate, BETWEEN**2)

    def pair(
        self, row: Row, reference: Sequence[Row], keys: Iterable[str], usual: float
    ) -> dict[str, Any]:
        """The row of a folder (B) beside its reference (A), with the error of their difference.

        ``usual`` is the variance between days that other points of the figure have.
        """
        sides = {"a": _pooled(reference), "b": row}
        error, freedom = self._error(row, reference, max(self.between(), usual))
        return {
            **{name: row[name] for name in (*keys, "figure", "folder_place")},
            **{f"{name}_{side}": values[name] for side, values in sides.items() for name in SIDE},
            "reference_folders": len(reference),
            "step_ratio": row["value"] / self.rows[-1]["value"],
            "error": error,
            "freedom": freedom,
        }

    def add(self, row: Row, *, changed: bool) -> None:
        """Append the next folder; after a change start again with it alone."""
        rows = self._continued(row)
        if rows:
            explained = (_mean_variance(row) + _mean_variance(rows[-1])) / 2
            variance = (row["log"] - rows[-1]["log"]) ** 2 / 2 - explained
            limit = OUTLYING**2 * self.between()
            self.days.append(min(variance, limit) if changed else variance)
        self.rows, self.earlier = ([row], rows) if changed else ([*rows, row], [])

    def _continued(self, row: Row) -> list[Row]:
        """The folders since the last change, or those before it if the row is nearer to these."""

        def distance(rows: list[Row]) -> float:
            return abs(float(row["log"]) - fmean(other["log"] for other in _reference(rows, row)))

        return min(filter(None, (self.rows, self.earlier)), key=distance, default=[])

    def _error(self, row: Row, reference: Sequence[Row], between: float) -> tuple[float, float]:
        """The error of the difference, and its degrees of freedom."""
        days = between * (1 + 1 / len(reference))
        variance, freedom = _between_runs(row, *self.rows)
        within = row["variance"] if _repeated(row) else 0.0  # one disturbed repeat makes it large
        count = sum(other["repeats"] for other in reference)
        runs = max(variance, within) / row["repeats"] + variance / count
        parts = days**2 / (FREEDOM + EFFICIENCY * len(self.days)) + runs**2 / max(1, freedom)
        return sqrt(days + runs), (days + runs) ** 2 / parts


def _reference(rows: Sequence[Row], row: Row) -> Sequence[Row]:
    """The rows that a folder is compared with."""
    repeated = [other for other in rows if _repeated(other)]
    return repeated[:MOST] if repeated and _repeated(row) else rows[-1:]


def _pooled(reference: Sequence[Row]) -> Row:
    """The folders of a reference as one row, with the name of the last folder."""
    kinds = dict.fromkeys(kind for row in reference for kind in row["doubts"].split(", ") if kind)
    return {
        **reference[-1],
        "repeats": sum(row["repeats"] for row in reference),
        "value": fmean(row["value"] for row in reference),
        "log": fmean(row["log"] for row in reference),
        "unsure": max(row["unsure"] for row in reference),
        "doubts": ", ".join(kinds),
    }


def _between_runs(*rows: Row) -> tuple[float, int]:
    """The pooled variance of the logarithm between repeats of a folder, and its freedom."""
    repeated = [row for row in rows if _repeated(row)]
    freedom = sum(row["repeats"] - 1 for row in repeated)
    squares = sum(row["variance"] * (row["repeats"] - 1) for row in repeated)
    return (squares / freedom if freedom else 0.0), freedom


def _mean_variance(row: Row) -> float:
    """The variance of a mean over repeats; 0 for a single run, where it is not known."""
    return float(row["variance"] / row["repeats"]) if _repeated(row) else 0.0


def _repeated(row: Row) -> bool:
    return bool(row["repeats"] > 1)
