"""How often decisions made after every repeat are wrong, and how many runs they take."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from simulations.invented import Array, Random, alike
from simulations.share import share, table

from mqperf.plan import MOST
from mqperf.study.stats.sequential import decisions

DIFFERENCE = 0.05
TRIALS = 2000
FIXED = 5
"""Repeats that a plan without ``decide`` has."""

SECONDS = 20
SECOND_NOISE, SECOND_CORRELATION = 0.05, 0.3
"""Noise of the throughput of single seconds, which short windows add to the noise of runs."""

OFF = 0.03
"""Standard deviation of a machine's relative speed between different times."""


def steady(points: int, random: Random) -> Array:
    """Return the log speed of a constant machine; a row for each point, a column for each turn."""
    del random
    return np.zeros((points, MOST))


def off(points: int, random: Random) -> Array:
    """Return the log speed of a machine that differs by 3 % in each turn."""
    return np.broadcast_to(OFF * random.normal(size=MOST), (points, MOST))


def wandering(points: int, random: Random) -> Array:
    """Return the log speed of a machine that slowly varies by 3 %; each second turn is reversed."""
    speed = OFF * alike(points * MOST, 0.98, random)[0].reshape(MOST, points)
    speed[1::2] = speed[1::2, ::-1]
    return np.transpose(speed)


MACHINES: dict[str, Callable[[int, Random], Array]] = {
    "always the same": steady,
    "off by 3 % in each turn": off,
    "wanders by 3 %": wandering,
}
UNEVEN = {
    "one point of each pair": (0.02, 0.06),
    "both of every other pair": (0.02, 0.02, 0.06, 0.06),
    "both of one pair in four": (*[0.02] * 6, 0.06, 0.06),
}
"""Noise of the points in their order, two for each comparison."""


@dataclass(frozen=True)
class Ended:
    """How a plan ended: the outcome of each comparison, and its share of the runs of five."""

    outcomes: list[str]
    runs: float


def decided_wrongly(random: Random, scale: float) -> pd.DataFrame:
    """Plans of 1, 4 and 12 comparisons, all equal or all of 5 %, until all is decided."""
    rows = []
    for state in MACHINES:
        for count in (1, 4, 12):
            cell: list[str] = []
            for truth, lies in ((0.0, {"better", "worse"}), (DIFFERENCE, {"alike", "worse"})):
                plans = [
                    _plan(count, (0.03,), truth, state, random)
                    for _ in range(round(TRIALS * scale))
                ]
                cell += _wrong(plans, lies)
            rows.append((state, count, len(plans), *cell))
    kinds = ("false", "any in a plan")
    shares = [f"{truth}: {kind}" for truth in ("equal", "5 % apart") for kind in kinds]
    return table(rows, "machine", "comparisons", "plans", *shares)


def decided_unevenly(random: Random, scale: float) -> pd.DataFrame:
    """Plans of equal points, of which some vary three times as much as others."""
    rows = []
    for where, noise in UNEVEN.items():
        for count in (1, 4, 12):
            plans = [
                _plan(count, noise, 0.0, "always the same", random)
                for _ in range(round(TRIALS * scale))
            ]
            rows.append((where, count, len(plans), *_wrong(plans, {"better", "worse"})))
    return table(rows, "6 % instead of 2 %", "comparisons", "plans", "false", "any in a plan")


def decided_runs(random: Random, scale: float) -> pd.DataFrame:
    """Plans of 1, 4 and 12 comparisons: what is decided, and how many runs that takes."""
    rows = []
    for effect in (0.15, 0.3, 0.47, 0.0):
        for noise in (0.01, 0.02, 0.03, 0.05):
            for count in (1, 4, 12):
                state = "off by 3 % in each turn"
                plans = [
                    _plan(count, (noise,), effect, state, random)
                    for _ in range(round(TRIALS * scale))
                ]
                right = share(
                    outcome == ("better" if effect else "alike")
                    for plan in plans
                    for outcome in plan.outcomes
                )
                runs = f"{100 * np.mean([plan.runs for plan in plans]):.0f}"
                rows.append((f"{effect:.0%}", f"{noise:.0%}", count, len(plans), right, runs))
    columns = ("apart by", "noise", "comparisons", "plans", "rightly decided")
    return table(rows, *columns, "runs, % of five repeats")


def _wrong(plans: list[Ended], lies: set[str]) -> Iterator[str]:
    yield share(outcome in lies for plan in plans for outcome in plan.outcomes)
    yield share(bool(lies.intersection(plan.outcomes)) for plan in plans)


def _plan(count: int, noise: tuple[float, ...], effect: float, state: str, random: Random) -> Ended:
    """Simulate a plan with ``count`` comparisons; runs after a decision do not change it."""
    points = 2 * count
    logs = np.resize(noise, points)[:, np.newaxis] * random.normal(size=(points, MOST))
    seconds = alike(SECONDS, SECOND_CORRELATION, random, points * MOST)
    logs += np.log1p(SECOND_NOISE * seconds.mean(axis=1)).reshape(points, MOST)
    logs += MACHINES[state](points, random)
    logs[1::2] += np.log1p(effect)
    values = 1000 * np.exp(logs)
    pairs = [(str(2 * number), str(2 * number + 1)) for number in range(count)]
    figures = {str(point): dict(enumerate(rates, 1)) for point, rates in enumerate(values.tolist())}
    decided = decisions(figures, pairs, DIFFERENCE)
    runs = sum(2 * decision.repeats for decision in decided) / (points * FIXED)
    return Ended([decision.outcome for decision in decided], runs)
