"""The throughput that a layout sustains, and its CPU, predicted from the demands of its roles.

The role that is full first bounds the throughput: X ≤ min over roles of (C - U0) / D, with C the
CPU that it has and U0 its CPU when idle (the bottleneck law: Denning and Buzen, 1978; E. Lazowska
and others, Quantitative System Performance, 1984, chapter 5).  D is the cost of a message to a role
that is full; where no run shows that, it is the cost at low load, and the bound is the least that
the role sustains.  Every interval is from draws of the demands, and of the error of a further run.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from mqperf.study.tables import Tables, conform
from mqperf_capacity.study import assumptions, latencies
from mqperf_capacity.study.demands import Demands, demands
from mqperf_capacity.study.full_load import FullLoad, full_load
from mqperf_capacity.study.points import HOST, NOT_NODES, Model, models
from mqperf_capacity.study.regression import Floats, interval
from mqperf_capacity.study.terms import IDLE, of_message

TARGET = 0.7
"""Utilisation up to which a role has enough CPU; queues grow fast above it."""

MEASURED, AT_LEAST = "measured", "at least"
"""Whether the rate at which a role is full was measured at full load, or is a lower bound."""

ELSEWHERE = 0.2
"""Standard deviation of the logarithm of the sustained rate with a CPU, or bodies, unlike those of
any run at full load: about the errors of held-out runs (``benchmarks/capacity.py``)."""

ALL = "all"
HOUR_S, MILLION = 3_600, 1e6

LEAST_COST = 1e-12
"""Least CPU seconds of a message in divisions; a message that costs less never fills a role."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """The request: cores of each node, a rate, a length of bodies, a price of a core hour.

    Without cores it is for the machine as measured, with the largest quota that was measured.
    """

    cores: float | None = None
    rate: float | None = None
    payload: float | None = None
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Predicted:
    """The prediction for a model: rows of ``predictions``, or the reason why it was ``refused``.

    ``broken`` has rows of ``broken_assumptions``.
    """

    known: Demands
    asked: Asked
    rows: list[Row]
    broken: list[Row]
    refused: str | None = None

    @property
    def together(self) -> Row:
        """The row of all roles together."""
        return next(row for row in self.rows if row["role"] == ALL)


@dataclass(frozen=True)
class Scenario:
    """The quantities that are predicted from ``known`` demands for a request.

    ``payload`` is the length of bodies, if it is known.
    """

    known: Demands
    asked: Asked
    payload: float | None

    @cached_property
    def capacities(self) -> Mapping[str, float]:
        """The CPU that each role has.

        With ``cores`` each node has so many, and load generators are on other machines: then the
        CPU of the common host is no bound.
        """
        largest = self.known.model.used.groupby("role", sort=False)["capacity"].max()
        measured = {str(role): float(value) for role, value in largest.items()}
        cores = self.asked.cores
        if cores is None:
            return measured
        return {
            role: value if role in NOT_NODES else cores
            for role, value in measured.items()
            if role != HOST
        }

    @cached_property
    def full_load(self) -> FullLoad:
        """The costs of a message at full load."""
        return full_load(self.known.model, self.payload)

    @cached_property
    def full(self) -> Mapping[str, tuple[float, Floats]]:
        """Role -> the rate at which it is full, and draws of it."""
        return {role: self._full_rate(role) for role in self.capacities}

    @cached_property
    def bound(self) -> tuple[float, Floats]:
        """The rate at which the first role is full, and draws of it."""
        draws = np.vstack([draws for _, draws in self.full.values()])
        return self.full[self.first][0], draws.min(axis=0)

    @cached_property
    def first(self) -> str:
        """The role that is full first."""
        return min(self.full, key=lambda role: self.full[role][0])

    def full_is(self, role: str) -> str:
        """Whether the rate at which a role is full is ``MEASURED`` or ``AT_LEAST``."""
        return MEASURED if role in self.full_load.full else AT_LEAST

    def _full_rate(self, role: str) -> tuple[float, Floats]:
        fitted = self.full_load.costs.get(role, self.known.cpu[role])
        cores = self.capacities[role]
        cost, costs = fitted.at(of_message(self.payload))
        idle, idles = fitted.at({IDLE: 1.0})
        available = cores / np.maximum(1 + fitted.noise, 0.1) - idles
        draws = np.maximum(available, 0.0) / np.maximum(costs, LEAST_COST)
        if role in self.full_load.full and (role, cores) not in self.full_load.seen:
            draws *= np.random.default_rng(0).lognormal(0.0, ELSEWHERE, len(draws))
        return max(0.0, cores - idle) / max(cost, LEAST_COST), draws

    def used(self, role: str, rate: float) -> tuple[float, Floats]:
        """Cores that a role uses at a rate, and draws of that; up to its full rate at most all."""
        used, draws = self.known.used(role, rate, self.payload)
        most = self.capacities[role] if rate <= self.full[role][0] else math.inf
        return min(used, most), np.minimum(draws, most)

    def of_role(self, role: str) -> Row:
        """The row of a role: its CPU, its full rate, and its use at the requested rate."""
        cores = self.capacities[role]
        row: Row = {"role": role, "capacity_cores": cores}
        row |= with_ends("full_msg_s", *self.full[role]) | {"full_is": self.full_is(role)}
        if self.asked.rate is None:
            return row
        used, _ = self.used(role, self.asked.rate)
        ends = with_ends("used_cores", *self.known.in_a_run(role, self.asked.rate, self.payload))
        needed = None if role == HOST else ends["used_cores_high"] / TARGET
        if self.asked.rate <= self.full[role][0]:
            ends = {name: min(value, cores) for name, value in ends.items()}
        return row | ends | {"used_share": used / cores, "needed_cores": needed}

    def latency(self) -> Row:
        """Latency at the requested rate, if the fullest role has some CPU left then."""
        if self.asked.rate is None:
            return {}
        used = {
            role: (self.used(role, self.asked.rate), cores)
            for role, cores in self.capacities.items()
            if role != HOST
        }
        shares = {role: value / cores for role, ((value, _), cores) in used.items()}
        fullest = max(shares, key=lambda role: shares[role])
        (_, draws), cores = used[fullest]
        if shares[fullest] > latencies.BUSIEST:
            return {}
        row: Row = {}
        for percentile in latencies.PERCENTILES:
            at = latencies.at(self.known, percentile, shares[fullest], draws / cores, cores)
            if at is not None:
                row |= with_ends(percentile.removeprefix("latency_"), *at)
        return row

    def cost(self) -> Row:
        """Cost of a million messages: of the brokers' used CPU, or of all requested cores."""
        if self.asked.price is None:
            return {}
        nodes = [role for role in self.capacities if role not in NOT_NODES]
        price = self.asked.price / HOUR_S * MILLION
        value, draws = self.bound
        if self.asked.rate is not None:  # messages beyond the bound are not carried
            value, draws = min(value, self.asked.rate), np.minimum(draws, self.asked.rate)
        if value <= 0:
            return {}
        if self.asked.cores is not None:
            paid = self.asked.cores * len(nodes) * price
            return with_ends("million_cost", paid / value, paid / np.maximum(draws, LEAST_COST))
        used = [self.used(role, value) for role in nodes]
        together = np.sum([each for _, each in used], axis=0)
        cores = sum(each for each, _ in used)
        return with_ends("million_cost", price * cores / value, price * together / value)

    def beyond(self) -> Iterator[str]:
        """The ways in which the prediction is an extrapolation, in words."""
        model, cores = self.known.model, self.asked.cores
        nodes = model.used[~model.used["role"].isin(NOT_NODES)]
        largest = nodes["capacity"].max()
        if cores is not None and cores > model.cores:
            yield f"{cores:g} cores are more than the {model.cores:g} of the machine measured on"
        elif cores is not None and cores > largest:
            yield f"{cores:g} cores are more than the {largest:g} that a node had"
        known = self.known.runs
        if self.asked.rate is None and self.full_is(self.first) == MEASURED:
            known = model.runs
        highest = known["rate"].max()
        rate = self.bound[0] if self.asked.rate is None else self.asked.rate
        if rate > highest:
            yield f"{rate:,.0f} msg/sec is above the {highest:,.0f} that demands are taken from"
        lengths = self.known.payloads
        if self.payload is not None and not lengths[0] <= self.payload <= lengths[-1]:
            between = f"between the {lengths[0]:g} and {lengths[-1]:g} measured"
            yield f"{self.payload:g} bytes are not {between}"


def predictions(tables: Tables, asked: Asked) -> list[Predicted]:
    """A prediction for each model."""
    return [_predicted(model, asked) for model in models(tables)]


def frames(results: list[Predicted]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables ``predictions`` and ``broken_assumptions``."""
    rows = [row for result in results for row in result.rows]
    broken = [row for result in results for row in result.broken]
    return (
        conform("predictions", pd.DataFrame(rows)),
        conform("broken_assumptions", pd.DataFrame(broken)),
    )


def _predicted(model: Model, asked: Asked) -> Predicted:
    known = demands(model)
    shared = {**model.keys, "parameters": model.words or None}
    payload, why = _payload(known, asked)
    if (refused := known.why_not or why) is not None:
        broken = [{**shared, **row} for row in assumptions.broken(known, math.inf, payload)]
        return Predicted(known, asked, [], broken, refused)
    scenario = Scenario(known, asked, payload)
    common = {**shared, "asked_rate_msg_s": asked.rate, "asked_payload_bytes": payload}
    roles = [{**common, **scenario.of_role(role)} for role in scenario.capacities]
    whole = {
        **common,
        "role": ALL,
        **with_ends("full_msg_s", *scenario.bound),
        "full_is": scenario.full_is(scenario.first),
        **scenario.latency(),
        **scenario.cost(),
        "extrapolated": "; ".join(scenario.beyond()) or None,
    }
    bound = scenario.bound[0]
    broken = [{**shared, **row} for row in assumptions.broken(known, bound, payload)]
    rate = bound if asked.rate is None else asked.rate
    limiting = [row for row in broken if rate > row["limit_msg_s"]]
    refused = f"{limiting[0]['assumption']}: {limiting[0]['because']}" if limiting else None
    return Predicted(known, asked, [*roles, whole], broken, refused)


def _payload(known: Demands, asked: Asked) -> tuple[float | None, str | None]:
    """The length of bodies to predict for, and the reason if that is not possible."""
    lengths = known.payloads
    if known.why_not is not None or asked.payload is None:
        return known.longest_body, None
    if known.by_payload() or (len(lengths) == 1 and asked.payload == lengths[0]):
        return asked.payload, None
    measured = f"{lengths[0]:g} bytes" if lengths else "bodies of unknown length"
    return None, (
        f"only {measured} were measured, so what a byte costs is not known: measure two lengths of"
        " bodies (payload_bytes: [256, 4096])"
    )


def with_ends(name: str, value: float, draws: Floats) -> dict[str, float]:
    """Columns of a value and both ends of its interval."""
    names = (name, f"{name}_low", f"{name}_high")
    return dict(zip(names, interval(value, draws), strict=True))
