"""Comparisons with a look after every repeat: intervals that are valid whenever one stops.

After n repeats of two points, whose logarithms differ by d on average, the interval of their ratio
is exp(d ± t s √(2/n)), with t such that the error probabilities of all looks, and of all
comparisons of a plan, add up to the level.  So no stopping rule, and no choice among
comparisons, makes false verdicts more frequent: repeated confidence intervals (C. Jennison and
B. W. Turnbull, Interim Analyses: The Repeated Confidence Interval Approach, 1989) with a spending
function (K. K. G. Lan and D. L. DeMets, Discrete Sequential Boundaries for Clinical Trials, 1983),
summed by Bonferroni's inequality instead of the joint distribution of the looks.

There are two such intervals.  The one that shows a difference spends level / (k (k + 1)) at the
k-th look, most of it early.  The one that shows that points are alike, which needs many repeats,
spends the same at each possible look.  Each has the whole level, as points cannot both be equal and
differ by a relevant amount.

All runs of one repeat (a turn) may share a faster or slower state of the machine.  The variance s²
is estimated in two ways: with the effect of turns removed, and with it left in, which widens the
interval and has more degrees of freedom.  With p points the second gets 1 / p of the error
probability, and the narrower interval counts.

Two runs give a poor estimate of their variance, so it is pooled over points: the first repeats of
every point, and all repeats of the two that are compared.  Later repeats of other points are left
out, as whether they exist depends on results.  Where the two points by themselves vary more than
that, their own variance counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mqperf.plan.decide import FIRST, MOST, Decision, Outcome

Array = NDArray[Any]
Figures = Mapping[Any, Mapping[int, float]]
"""Point -> repeat -> throughput, or another figure that is compared."""

LEVEL = 0.05


def decisions(
    figures: Figures, pairs: Sequence[tuple[Any, Any]], difference: float, first: int = FIRST
) -> list[Decision]:
    """The decision on each pair of points, a reference and another, in their order.

    ``difference`` is the minimum relevant relative difference, ``first`` the repeats before the
    first look.  The first look that decides counts: later repeats do not change the decision.
    Pairs of points without figures stay open.
    """
    looks = _Looks(LEVEL / max(1, len(pairs)), max(FIRST, first), log1p(difference))
    logs = {point: _logs_without_gap(figures.get(point, {})) for pair in pairs for point in pair}
    firsts = [of_point[: looks.first] for of_point in logs.values() if len(of_point) >= looks.first]
    turns = np.array(firsts).reshape(-1, looks.first)
    return [_decision(logs[a], logs[b], turns, looks) for a, b in pairs]


@dataclass(frozen=True, slots=True)
class _Looks:
    """Error probability over all looks, repeats before the first, minimum relevant log ratio."""

    level: float
    first: int
    least: float

    def early(self, n: Array) -> Array:
        """Error probability spent on showing a difference, at the look after n repeats."""
        k = n - self.first + 1
        return np.asarray(self.level / (k * (k + 1)))

    def even(self, n: Array) -> Array:
        """The same, spent on showing that there is no relevant difference."""
        return np.full(len(n), self.level / max(1, MOST - self.first + 1))

    def outcomes(self, differences: Array, early: Array, even: Array) -> NDArray[np.str_]:
        """The outcome for each mean difference with its half intervals.

        A difference must be relevant and significant; ``alike`` is one too small to be relevant.
        """
        differ = (np.abs(differences) >= self.least) & (np.abs(differences) > early)
        cases = [differ & (differences > 0), differ, np.abs(differences) + even < self.least]
        return np.select(cases, ["better", "worse", "alike"], "open")


@dataclass(frozen=True, slots=True)
class _Errors:
    """Variances of a run at each look, and degrees of freedom: without and with effects of turns.

    ``share`` is the share of the error probability that the second gets.
    """

    variances: tuple[Array, Array]
    freedoms: tuple[Array, Array]
    share: float

    def halves(self, n: Array, chances: Array) -> Array:
        """Half widths of the intervals after n repeats, for these error probabilities."""
        tails = (chances * (1 - self.share) / 2, chances * self.share / 2)
        widths = [
            -special.stdtrit(freedom, tail) * np.sqrt(variance * 2 / n)
            for variance, freedom, tail in zip(self.variances, self.freedoms, tails, strict=True)
        ]
        return np.asarray(np.minimum(*widths))

    def later(self, more: Array) -> "_Errors":
        """The last variances, with the degrees of freedom after so many more repeats."""
        without, with_turns = (freedom[-1:] for freedom in self.freedoms)
        variances = (self.variances[0][-1:], self.variances[1][-1:])
        return _Errors(variances, (without + more, with_turns + 2 * more), self.share)


def _decision(a: Array, b: Array, turns: Array, looks: _Looks) -> Decision:
    last = min(len(a), len(b))
    if last < looks.first:
        return Decision("open", last)
    n = np.arange(looks.first, last + 1)
    errors = _errors(a[:last], b[:last], turns, n)
    differences = np.cumsum(b[:last] - a[:last])[n - 1] / n
    early, even = (errors.halves(n, spent(n)) for spent in (looks.early, looks.even))
    outcomes = looks.outcomes(differences, early, even)
    look = next((index for index, verdict in enumerate(outcomes) if verdict != "open"), len(n) - 1)
    outcome: Outcome = outcomes[look]
    half = (even if outcome == "alike" else early)[look]
    ratio, low, high = np.exp(differences[look] + np.array([0.0, -half, half])).tolist()
    needed = _needed(errors, differences[-1], last, looks) if outcome == "open" else None
    return Decision(outcome, int(n[look]), ratio, low, high, needed)


def _errors(a: Array, b: Array, turns: Array, n: Array) -> _Errors:
    """The errors of two points; ``turns`` has the first repeats of all points, a row for each."""
    points, first = turns.shape
    within = turns - turns.mean(axis=1, keepdims=True)
    residuals = within - within.mean(axis=0)
    between, inside = _squares(b - a) / 2, _squares(a) + _squares(b)
    squares_without = float(np.sum(residuals**2)) + between[n - 1] - between[first - 1]
    squares_with = float(np.sum(within**2)) + inside[n - 1] - inside[first - 1]
    freedoms = (points - 1) * (first - 1) + n - first, points * (first - 1) + 2 * (n - first)
    variances = (
        np.maximum(squares_without / freedoms[0], between[n - 1] / (n - 1)),
        np.maximum(squares_with / freedoms[1], inside[n - 1] / (2 * (n - 1))),
    )
    return _Errors(variances, freedoms, 1 / points)


def _needed(errors: _Errors, difference: float, last: int, looks: _Looks) -> int | None:
    """The fewest repeats that would decide if all stays as it is; None if more than ``MOST``."""
    n = np.arange(last + 1, MOST + 1)
    later = errors.later(n - last)
    early, even = (later.halves(n, spent(n)) for spent in (looks.early, looks.even))
    enough = looks.outcomes(np.full(len(n), difference), early, even) != "open"
    return int(n[np.argmax(enough)]) if enough.any() else None


def _logs_without_gap(by_repeat: Mapping[int, float]) -> Array:
    """Logarithms of the repeats from the first to the last before a gap."""
    logs: list[float] = []
    while (value := by_repeat.get(len(logs) + 1)) is not None and value > 0:
        logs.append(log(value))
    return np.array(logs)


def _squares(values: Array) -> Array:
    """The sums of squares around the mean of the first value, the first two, and so on."""
    centred = values - values.mean()
    counts = np.arange(1, len(values) + 1)
    return np.maximum(0.0, np.cumsum(centred**2) - np.cumsum(centred) ** 2 / counts)
