"""How often the interval of a search holds the limit, and whether busy hosts lift what it finds."""

from collections.abc import Callable
from functools import partial
from math import exp, inf, log

import pandas as pd
from simulations.invented import Random
from simulations.share import share, table

from mqperf.plan import Bracket, SearchPlan, Verdict
from mqperf.plan.search import Verdicts, deciding
from mqperf.study.stats.search_limit import Limit, Tried, limit

PLAN = SearchPlan(from_msg_s=500, to_msg_s=80_000)
LIMITS = (4_000, 20_000)
"""Range of the true limit, which is uniform in the logarithm."""

Curve = Callable[[float], float]
"""Function from log(rate / true limit) to log(median latency / its limit)."""


def even(beyond: float) -> float:
    """Latency proportional to the cube of the rate."""
    return 3 * beyond


def queue(beyond: float, times: float) -> float:
    """Latency of a queue, 1 / (capacity - rate); the limit is ``times`` that without load."""
    left = 1 - (1 - 1 / times) * exp(beyond)
    return -log(left * times) if left > 0 else inf


def flat(beyond: float) -> float:
    """Latency of three fifths of its limit up to near the rate's limit, and then steep."""
    return max(log(0.6), 10 * beyond)


CURVES: dict[str, tuple[Curve, int]] = {
    "rate cubed": (even, 2000),
    "queue, limit 3 times its least": (partial(queue, times=3), 500),
    "queue, limit 10 times its least": (partial(queue, times=10), 500),
    "flat at 0.6 of the limit, then steep": (flat, 500),
}
"""Name -> curve and number of searches."""


def searches(random: Random, scale: float) -> pd.DataFrame:
    """Searches from 500 to 80,000 within 5 %, latencies with normal noise of their logarithm."""
    rows = []
    for name, (curve, count) in CURVES.items():
        for noise in (0.1, 0.3, 0.5):
            for repeats in (1, 3):
                trials = [
                    _trial(curve, noise, repeats, random) for _ in range(round(count * scale))
                ]
                rows.append((name, noise, repeats, len(trials), *_summary(trials)))
    columns = ("latency", "noise", "repeats", "searches")
    return table(rows, *columns, "bracket right", "interval right", "high / low, median")


def busy_hosts(random: Random, scale: float) -> pd.DataFrame:
    """Searches during whose runs others used the host, by chance and without effect."""
    rows = []
    for busy in (0.0, 0.5, 1.0):
        for repeats in (1, 3):
            ends = [searched(even, 0.3, repeats, random, busy) for _ in range(round(1000 * scale))]
            lifted = share(
                bracket.low is not None and bracket.low > true for bracket, _, true in ends
            )
            rows.append((f"{busy:.0%}", repeats, len(ends), lifted))
    return table(rows, "busy in runs", "repeats", "searches", "above the limit")


def searched(
    curve: Curve, noise: float, repeats: int, random: Random, busy: float = 0.0
) -> tuple[Bracket, Verdicts, float]:
    """Simulate a search; return its bracket, its verdicts and the true limit."""
    lowest, highest = map(log, LIMITS)
    true = exp(random.uniform(lowest, highest))
    verdicts: dict[tuple[float, int], Verdict] = {}
    while (left := (bracket := PLAN.bracket(verdicts, repeats)).next_run) is not None:
        margin = curve(log(left[0] / true)) + noise * random.normal()
        verdicts[left] = Verdict(margin <= 0, "invented", random.random() < busy, margin)
    return bracket, verdicts, true


def _trial(
    curve: Curve, noise: float, repeats: int, random: Random
) -> tuple[Bracket, Limit | None, float]:
    bracket, verdicts, true = searched(curve, noise, repeats, random)
    if bracket.low is None or bracket.high is None:
        return bracket, None, true
    runs = [
        Tried(rate, bool(verdict.holds), verdict.margin) for rate, verdict in deciding(verdicts)
    ]
    return bracket, limit(runs, bracket.low, bracket.high), true


def _summary(trials: list[tuple[Bracket, Limit | None, float]]) -> tuple[str, str, str]:
    """Return, of searches that ended between two rates, the shares of right ones, and the width."""
    ended = [
        (bracket, estimate, true) for bracket, estimate, true in trials if estimate is not None
    ]
    brackets = share(
        (bracket.low or inf) <= true <= (bracket.high or 0) for bracket, _, true in ended
    )
    right = share(estimate.low <= true <= estimate.high for _, estimate, true in ended)
    width = pd.Series([estimate.high / estimate.low for _, estimate, _ in ended]).median()
    return brackets, right, f"{width:.2f}"
