"""Comparisons that are looked at after every repeat: intervals that stay right whenever one stops.

After n repeats of two points, whose logarithms differ by d on average, the interval of their ratio
is exp(d ± t s √(2/n)), and t is such that the chances of being wrong at all looks, and in all
comparisons of a plan, add up to the level.  So no rule of stopping, and no choice among
comparisons, makes false verdicts more frequent: repeated confidence intervals (C. Jennison and
B. W. Turnbull, Interim Analyses: The Repeated Confidence Interval Approach, 1989) with a spending
function (K. K. G. Lan and D. L. DeMets, Discrete Sequential Boundaries for Clinical Trials, 1983),
summed by Bonferroni's inequality instead of the joint distribution of the looks.

There are two such intervals.  That which tells a difference spends level / (k (k + 1)) at the k-th
look, most of it early; that which tells that points are alike, for which many repeats are needed,
the same at each of all looks that there may be.  Each has the whole level, as points cannot be
equal and apart by more than what matters.

Runs of one repeat (a turn) may have in common that the machine was faster or slower then.  The
variance s² is estimated in two ways: with what turns have in common taken out, and with it left in,
which widens the interval and has more degrees of freedom.  Of p points the second gets 1 / p of the
chance, and the narrower interval counts.

Two runs tell little of their variance, so that of all points is pooled: the first repeats of
every point, and all of the two that are compared.  Later repeats of others stay out, as whether
there are any depends on results.  Where the two points by themselves vary more than that, their own
variance counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mqperf.plan.decide import FIRST, MOST, Decision, Outcome
from mqperf.study.stats.compare import MOST_REPEATS

Array = NDArray[Any]
Figures = Mapping[Any, Mapping[int, float]]
"""Point -> repeat -> its throughput, or what else is compared."""

LEVEL = 0.05


def decisions(
    figures: Figures, pairs: Sequence[tuple[Any, Any]], difference: float, first: int = FIRST
) -> list[Decision]:
    """What is known of each pair of points, a reference and another, in their order.

    ``difference`` is the least relative difference that matters, ``first`` the repeats before the
    first look.  The first look that decides counts: what was measured later does not change it.
    Points without figures leave their pairs open.
    """
    looks = _Looks(LEVEL / max(1, len(pairs)), max(FIRST, first), log1p(difference))
    logs = {point: _in_a_row(figures.get(point, {})) for pair in pairs for point in pair}
    begun = [of_point[: looks.first] for of_point in logs.values() if len(of_point) >= looks.first]
    turns = np.array(begun).reshape(-1, looks.first)
    return [_decision(logs[a], logs[b], turns, looks) for a, b in pairs]


@dataclass(frozen=True, slots=True)
class _Looks:
    """The chance of a wrong interval over all looks, the repeats before the first, what matters."""

    level: float
    first: int
    least: float

    def early(self, n: Array) -> Array:
        """What of the chance is spent at the look after n repeats, to tell a difference."""
        k = n - self.first + 1
        return np.asarray(self.level / (k * (k + 1)))

    def even(self, n: Array) -> Array:
        """The same to tell that there is none that matters."""
        return np.full(len(n), self.level / max(1, MOST - self.first + 1))

    def outcomes(self, differences: Array, early: Array, even: Array) -> NDArray[np.str_]:
        """By mean differences and half intervals: one that matters and is told from none, or not.

        ``alike`` is what is too small to matter.
        """
        differ = (np.abs(differences) >= self.least) & (np.abs(differences) > early)
        cases = [differ & (differences > 0), differ, np.abs(differences) + even < self.least]
        return np.select(cases, ["better", "worse", "alike"], "open")


@dataclass(frozen=True, slots=True)
class _Errors:
    """Variances of a run at each look, and their degrees of freedom: turns taken out, and left in.

    ``share`` is that of the chance which the second gets.
    """

    variances: tuple[Array, Array]
    freedoms: tuple[Array, Array]
    share: float

    def halves(self, n: Array, chances: Array) -> Array:
        """Half the widths of the intervals after n repeats, for the chances of a wrong one."""
        tails = (chances * (1 - self.share) / 2, chances * self.share / 2)
        widths = [
            -special.stdtrit(freedom, tail) * np.sqrt(variance * 2 / n)
            for variance, freedom, tail in zip(self.variances, self.freedoms, tails, strict=True)
        ]
        return np.asarray(np.minimum(*widths))

    def later(self, more: Array) -> "_Errors":
        """The last of them, with the degrees of freedom of so many more repeats."""
        out, left = (freedom[-1:] for freedom in self.freedoms)
        variances = (self.variances[0][-1:], self.variances[1][-1:])
        return _Errors(variances, (out + more, left + 2 * more), self.share)


def _decision(a: Array, b: Array, turns: Array, looks: _Looks) -> Decision:
    last = min(len(a), len(b))
    if last < looks.first:
        return Decision("open", last)
    n = np.arange(looks.first, last + 1)
    errors = _errors(a[:last], b[:last], turns, n)
    differences = np.cumsum(b[:last] - a[:last])[n - 1] / n
    early, even = (errors.halves(n, spent(n)) for spent in (looks.early, looks.even))
    outcomes = looks.outcomes(differences, early, even)
    place = next((at for at, verdict in enumerate(outcomes) if verdict != "open"), len(n) - 1)
    outcome: Outcome = outcomes[place]
    half = (even if outcome == "alike" else early)[place]
    ratio, low, high = np.exp(differences[place] + np.array([0.0, -half, half])).tolist()
    needed = _needed(errors, differences[-1], last, looks) if outcome == "open" else None
    return Decision(outcome, int(n[place]), ratio, low, high, needed)


def _errors(a: Array, b: Array, turns: Array, n: Array) -> _Errors:
    """Of two points, and of the first turns of all, a row for each point."""
    points, first = turns.shape
    within = turns - turns.mean(axis=1, keepdims=True)
    residuals = within - within.mean(axis=0)
    between, inside = _squares(b - a) / 2, _squares(a) + _squares(b)
    out = float(np.sum(residuals**2)) + between[n - 1] - between[first - 1]
    left = float(np.sum(within**2)) + inside[n - 1] - inside[first - 1]
    freedoms = (points - 1) * (first - 1) + n - first, points * (first - 1) + 2 * (n - first)
    variances = (
        np.maximum(out / freedoms[0], between[n - 1] / (n - 1)),
        np.maximum(left / freedoms[1], inside[n - 1] / (2 * (n - 1))),
    )
    return _Errors(variances, freedoms, 1 / points)


def _needed(errors: _Errors, difference: float, last: int, looks: _Looks) -> int | None:
    """The fewest repeats that would decide, if runs go on as they did."""
    n = np.arange(last + 1, MOST_REPEATS)
    later = errors.later(n - last)
    early, even = (later.halves(n, spent(n)) for spent in (looks.early, looks.even))
    enough = looks.outcomes(np.full(len(n), difference), early, even) != "open"
    return int(n[np.argmax(enough)]) if enough.any() else None


def _in_a_row(by_repeat: Mapping[int, float]) -> Array:
    """Logarithms of the repeats from the first on, as far as none is missing."""
    logs: list[float] = []
    while (value := by_repeat.get(len(logs) + 1)) is not None and value > 0:
        logs.append(log(value))
    return np.array(logs)


def _squares(values: Array) -> Array:
    """The sum of squares around the mean, of the first value, the first two, and so on."""
    centred = values - values.mean()
    counts = np.arange(1, len(values) + 1)
    return np.maximum(0.0, np.cumsum(centred**2) - np.cumsum(centred) ** 2 / counts)
