"""Test cases at once on one layout: the CPU that all of them use, and how long each takes.

What a role uses is the sum over test cases, U = U0 + Σ X · D, the utilisation law of several
classes (E. Lazowska and others, Quantitative System Performance, 1984, chapter 7).  D is what a
message costs at low load, so that the layout takes as much as is told, or more.  The wait of each
test case grows with what all of them use.  Each has load generators of its own, which bound nothing
here.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, conform
from mqperf_capacity.study import assumptions, latencies
from mqperf_capacity.study.demands import Demands, demands
from mqperf_capacity.study.points import CLIENTS, HOST, SERVERS, Model, models
from mqperf_capacity.study.predictions import ALL, AT_LEAST, TARGET, Asked, Row, Scenario, with_ends
from mqperf_capacity.study.regression import Floats
from mqperf_capacity.study.terms import IDLE, of_message

LAYOUT = ("system", "topology", "queues")

Estimate = tuple[float, Floats]
"""A value, and draws of it."""


@dataclass(frozen=True)
class Mix:
    """Test cases with their rates, by what each costs on a layout.

    ``refused`` says why nothing is predicted, if so; ``cores`` are those of each node.
    """

    layout: Mapping[str, str]
    words: str
    rates: Mapping[str, float]
    known: Mapping[str, Demands]
    cores: float | None
    refused: str | None

    @cached_property
    def rows(self) -> list[Row]:
        """Rows of ``predictions``: of every role, of all together, and of each test case."""
        if self.refused is not None:
            return []
        asked = ", ".join(f"{name} {rate:g} msg/sec" for name, rate in self.rates.items())
        common = {**self.layout, "parameters": "; ".join(filter(None, [self.words, asked]))}
        roles = [self._of_role(role) for role in self.capacities]
        first = min(roles, key=lambda row: float(row["full_msg_s"]))
        full = {name: value for name, value in first.items() if name.startswith("full_")}
        whole = {"role": ALL, "asked_rate_msg_s": sum(self.rates.values()), **full}
        whole["extrapolated"] = "; ".join(self.beyond()) or None
        cases = [{"role": ALL, "test_case": name, **self._latency(name)} for name in self.rates]
        return [{**common, **row} for row in (*roles, whole, *cases)]

    def beyond(self) -> Iterator[str]:
        """What is further than what was measured."""
        for name, known in self.known.items():
            title = TEST_CASES[name].title
            highest = float(np.nanmax(known.runs[["rate", "offered"]].to_numpy(float)))
            if self.rates[name] > highest:
                yield f"{title} was measured at half load up to {highest:,.0f} msg/sec"
        measured_on = max(known.model.cores for known in self.known.values())
        if self.cores is not None and self.cores > measured_on:
            yield f"the machine measured on has {measured_on:g} cores"

    @cached_property
    def capacities(self) -> Mapping[str, float]:
        """The CPU that each node has, and the host that has them all."""
        most: dict[str, float] = {}
        for known in self.known.values():
            there = Scenario(known, Asked(self.cores), None).capacities
            most |= {role: max(cores, most.get(role, 0.0)) for role, cores in there.items()}
        return {role: most[role] for role in most if role in common_to(self.known)}

    def _used(self, role: str) -> tuple[Estimate, Estimate]:
        """Cores that a role uses when idle, and for all messages of a second."""
        fits = {name: known.cpu[role] for name, known in self.known.items()}
        idle = [fitted.at({IDLE: 1.0}) for fitted in fits.values()]
        used, draws = 0.0, np.zeros_like(idle[0][1])
        for name, fitted in fits.items():
            cost, costs = fitted.at(of_message(payload_of(self.known[name])))
            used += self.rates[name] * cost
            draws += self.rates[name] * costs * np.maximum(1 + fitted.noise, 0.0)
        without = sum(value for value, _ in idle) / len(idle)
        return (without, np.mean([each for _, each in idle], axis=0)), (used, draws)

    def _of_role(self, role: str) -> Row:
        """What a role has and uses, and at which rate of all together it is full."""
        cores = self.capacities[role]
        (idle, idles), (used, draws) = self._used(role)
        total, least = sum(self.rates.values()), 1e-12
        full = total * max(0.0, cores - idle) / max(used, least)
        fulls = total * np.maximum(cores - idles, 0.0) / np.maximum(draws, least)
        row = with_ends("used_cores", idle + used, idles + draws)
        return {
            "role": role,
            "asked_rate_msg_s": total,
            "capacity_cores": cores,
            **with_ends("full_msg_s", full, fulls),
            "full_is": AT_LEAST,
            **row,
            "used_share": row["used_cores"] / cores,
            "needed_cores": None if role == HOST else row["used_cores_high"] / TARGET,
        }

    def _latency(self, name: str) -> Row:
        """Percentiles of a test case, where there are nodes, and the fullest has some CPU left."""
        row: Row = {"asked_rate_msg_s": self.rates[name]}
        shares = {
            role: (sum(part for part, _ in used) / cores, sum(part for _, part in used) / cores)
            for role, cores in self.capacities.items()
            if role != HOST and (used := self._used(role))
        }
        fullest = max(shares, key=lambda role: shares[role][0], default="")
        if not fullest or shares[fullest][0] > latencies.BUSIEST:
            return row
        share, draws = shares[fullest]
        for percentile in latencies.PERCENTILES:
            cores, known = self.capacities[fullest], self.known[name]
            at = latencies.at(known, percentile, share, np.asarray(draws), cores)
            if at is not None:
                row |= with_ends(percentile.removeprefix("latency_"), *at)
        return row


def mixes(tables: Tables, rates: Mapping[str, float], cores: float | None = None) -> list[Mix]:
    """A mix for each layout, and what else varies, on which one of the test cases was measured."""
    layouts: dict[tuple[str, ...], dict[str, Model]] = {}
    for model in models(tables):
        test_case = model.keys["test_case"]
        layout = (*(model.keys[name] for name in LAYOUT), model.words)
        if test_case in rates:
            layouts.setdefault(layout, {})[test_case] = model
    return [
        _mix(dict(zip(LAYOUT, names, strict=True)), words, rates, of_layout, cores)
        for (*names, words), of_layout in layouts.items()
    ]


def _mix(
    layout: Mapping[str, str],
    words: str,
    rates: Mapping[str, float],
    of_layout: Mapping[str, Model],
    cores: float | None,
) -> Mix:
    known = {name: demands(of_layout[name]) for name in rates if name in of_layout}
    refused = next(_refusals(rates, known, cores), None)
    return Mix(layout, words, rates, known, cores, refused)


def _refusals(
    rates: Mapping[str, float], known: Mapping[str, Demands], cores: float | None
) -> Iterator[str]:
    """Why nothing can be predicted."""
    for name, rate in rates.items():
        title = TEST_CASES[name].title
        if name not in known:
            yield f"there is no run of {title}"
        elif (why := known[name].why_not) is not None:
            yield f"{title}: {why}"
        else:
            for row in assumptions.broken(known[name], math.inf, payload_of(known[name])):
                if row["limit_msg_s"] < rate:
                    yield f"{title}: {row['assumption']}: {row['because']}"
    if not common_to(known) - ({HOST} if cores is not None else set()):
        yield "there is no broker that could be full"


def common_to(known: Mapping[str, Demands]) -> set[str]:
    """The roles that all these test cases use, but for the load generators of each."""
    return set.intersection(*(set(each.cpu) for each in known.values())) - {CLIENTS, SERVERS}


def payload_of(known: Demands) -> float | None:
    """The longest bodies that were measured, which cost most."""
    return known.payloads[-1] if known.payloads else None


def table(results: list[Mix]) -> pd.DataFrame:
    """The table ``predictions``."""
    return conform("predictions", pd.DataFrame([row for mix in results for row in mix.rows]))
