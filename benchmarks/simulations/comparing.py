"""How often two sets of equal runs get a verdict, and how often a difference is found."""

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
import pandas as pd
from simulations.invented import Array, Random, alike, noisy, runs_of
from simulations.share import share, table

from mqperf.study.series.intervals import CONFIDENCE
from mqperf.study.stats.compare import CANNOT_TELL, MIN_EFFECT, compare, holm
from mqperf.study.stats.summary import points

POINTS = 12
NOISE = 0.03
OFF = 0.03
"""Standard deviation of a machine's relative speed between different times."""

Sides = tuple[Array, Array]
Order = Literal["A first", "in turns"]
ORDERS: tuple[Order, ...] = ("A first", "in turns")


def over_repeats(random: Random, scale: float) -> pd.DataFrame:
    """Student's interval over the repeats of a point."""
    count, truth = round(2000 * scale), 1000 * np.exp(0.05**2 / 2)
    rows = []
    for repeats in (2, 3, 5):
        figures = points(runs_of(noisy((count, repeats), 0.05, random)))
        low, high = figures["throughput_msg_s_low"], figures["throughput_msg_s_high"]
        rows.append((repeats, count, share((low <= truth) & (truth <= high))))
    return table(rows, "repeats", "points", "interval right")


def false_verdicts(random: Random, scale: float) -> pd.DataFrame:
    """Comparisons of 12 points with themselves: those with any verdict."""
    trials, rows = round(600 * scale), []
    for repeats in (2, 3, 5):
        for state, measure in MACHINES.items():
            for order in ORDERS:
                sides = [measure(repeats, order, random) for _ in range(trials)]
                any_verdict = (bool((trial != CANNOT_TELL).any()) for trial in verdicts(sides))
                rows.append((state, order, repeats, trials, share(any_verdict)))
    return table(rows, "machine", "order", "repeats", "comparisons", "any verdict")


def differences_found(random: Random, scale: float) -> pd.DataFrame:
    """Comparisons in which B is faster at one of 12 points, by what is said to be detectable."""
    trials, rows = round(600 * scale), []
    for repeats in (3, 5):
        shown = np.mean([_detectable(repeats, random) for _ in range(40)])
        faster = np.where(np.arange(POINTS) == 0, 1 + shown, 1.0)[:, np.newaxis]
        sides = [same(repeats, "in turns", random) for _ in range(trials)]
        trial_verdicts = list(verdicts([(a, b * faster) for a, b in sides]))
        better, wrong = (
            (trial[0] == "better" for trial in trial_verdicts),
            (set(trial[1:]) for trial in trial_verdicts),
        )
        on_others = share(kinds != {CANNOT_TELL} for kinds in wrong)
        rows.append((repeats, f"{shown:.1%}", trials, share(better), on_others))
    return table(rows, "repeats", "planted", "comparisons", "found better", "verdict on others")


def _detectable(repeats: int, random: Random) -> float:
    """Return the median, over points, of the detectable difference in a comparison of equals."""
    a, b = same(repeats, "in turns", random)
    return float(compare(runs_of(a), runs_of(b))["detectable"].median())


def verdicts(sides: list[Sides]) -> Iterator[Array]:
    """Yield the verdicts on each pair of sides.

    All pairs are compared at once for their p-values, which are independent of each other; the
    correction is then made for each pair.  The first pair is checked against ``compare`` alone.
    """
    compared = compare(*(runs_of(np.concatenate(side)) for side in zip(*sides, strict=True)))
    ordered = compared.sort_values("threads")
    for pair in np.arange(len(sides)):
        rows = ordered.iloc[pair * POINTS : (pair + 1) * POINTS]
        clear = holm(rows["p_value"].to_numpy()) < 1 - CONFIDENCE
        clear &= np.abs(np.log(rows["ratio"])) >= np.log1p(MIN_EFFECT)
        pair_verdicts = np.where(clear, np.where(rows["ratio"] > 1, "better", "worse"), CANNOT_TELL)
        if pair == 0 and list(pair_verdicts) != _alone(sides[0]):
            raise AssertionError("one comparison differs from the same among many")
        yield pair_verdicts


def _alone(sides: Sides) -> list[str]:
    a, b = sides
    return list(compare(runs_of(a), runs_of(b)).sort_values("threads")["verdict"])


def same(repeats: int, order: Order, random: Random) -> Sides:
    """Return sets from a machine that is always the same; the order does not matter."""
    del order
    return noisy((POINTS, repeats), NOISE, random), noisy((POINTS, repeats), NOISE, random)


def restarted(repeats: int, order: Order, random: Random) -> Sides:
    """Return sets from a machine whose speed changes by 3 % with each start of a measurement.

    A first: once for A and once for B.  In turns: at each repeat, for both.
    """
    a, b = same(repeats, order, random)
    off = np.exp(OFF * random.normal(size=(2, repeats)))
    return (a * off[0], b * off[0]) if order == "in turns" else (a * off[0, 0], b * off[1, 0])


def wandering(repeats: int, order: Order, random: Random) -> Sides:
    """Return sets from a machine whose speed varies by 3 %, slowly compared with a run.

    The correlation of neighbouring runs is 0.98, that of runs a hundred apart 0.13.
    """
    a, b = same(repeats, order, random)
    speed = np.exp(OFF * alike(2 * a.size, 0.98, random)[0])
    of_a, of_b = (speed[0::2], speed[1::2]) if order == "in turns" else np.split(speed, 2)
    return a * of_a.reshape(repeats, POINTS).T, b * of_b.reshape(repeats, POINTS).T


MACHINES: dict[str, Callable[[int, Order, Random], Sides]] = {
    "always the same": same,
    "off by 3 % at each start": restarted,
    "wanders by 3 %": wandering,
}
