"""Latency at a rate: as measured at half load and below, with a waiting time that grows with load.

Latency is a constant, the path through the broker without a queue, plus a waiting time.  The mean
wait of a queue with general service times and k servers is that of exponential ones, times a
constant (Y. Lee and P. Longton, Queueing Processes Associated with Airline Passenger Check-in,
1959); and that of exponential ones grows with the utilisation u as

    u ** (sqrt(2 * (k + 1)) - 1) / (k * (1 - u))

(H. Sakasegawa, An Approximation Formula for the Number in a Queue, 1977).  The constant of each
percentile, and its share of the growth, are fitted to the measurements; so no distribution of
service times is assumed, only that the percentile of the wait grows as its mean.
"""

import math

import numpy as np
import pandas as pd

from mqperf_capacity.study.demands import FEW, Demands
from mqperf_capacity.study.points import HOST
from mqperf_capacity.study.regression import Fit, Floats, fit

FIXED, WAITING = "fixed", "waiting"

PERCENTILES = ("latency_p50_s", "latency_p99_s")

LEAST_S = 1e-6
"""Latency below which errors are absolute and no longer relative: the resolution of clocks."""

BUSIEST = 0.95
"""Utilisation above which latency is not predicted, as it depends on the duration of the load."""


def growth(utilisation: Floats, servers: float) -> Floats:
    """Sakasegawa's factor, for utilisations below 1."""
    exponent = math.sqrt(2 * (servers + 1)) - 1
    bounded = np.clip(utilisation, 0.0, BUSIEST)
    grown: Floats = bounded**exponent / (servers * (1 - bounded))
    return grown


def servers_of(capacity: float) -> float:
    """The number of servers of a role in the queueing model: its whole cores, at least one."""
    return max(1.0, math.floor(capacity))


def at(
    known: Demands, percentile: str, share: float, shares: Floats, capacity: float
) -> tuple[float, Floats] | None:
    """A percentile where the fullest role uses this share of its capacity, with draws of it.

    ``shares`` are draws of the share.  None where there are too few runs with that percentile.
    """
    if (fitted := _fitted(known, percentile)) is None:
        return None
    servers = servers_of(capacity)
    value, _ = fitted.at({FIXED: 1.0, WAITING: float(growth(np.array([share]), servers)[0])})
    terms = {FIXED: np.ones_like(shares), WAITING: growth(shares, servers)}
    design = np.column_stack([terms[name] for name in fitted.names])
    return value, (fitted.draws * design).sum(axis=1) * np.exp(fitted.noise)


def _fitted(known: Demands, percentile: str) -> Fit | None:
    """A percentile fitted against the growth of the wait for the fullest role of each run."""
    runs = known.runs[known.runs[percentile].notna()]
    used = known.model.used
    used = used[used["run"].isin(runs["run"]) & used["role"].ne(HOST)].reset_index(drop=True)
    if len(runs) < FEW:
        return None
    share = used["cores"] / used["capacity"]
    fullest = share.groupby(used["run"]).idxmax()
    capacity = used.loc[fullest, "capacity"].set_axis(fullest.index)
    grown = pd.Series(
        [
            growth(np.array([share[row]]), servers_of(capacity[run]))[0]
            for run, row in fullest.items()
        ],
        fullest.index,
    )
    terms = {FIXED: np.ones(len(runs)), WAITING: runs["run"].map(grown).to_numpy(float)}
    return fit(terms, runs[percentile].to_numpy(float), percentile, least=LEAST_S)
