"""Several test cases at once on one layout: the CPU that all use, and the latency of each.

What a role uses is the sum over test cases, U = U0 + Σ X · D, the utilisation law of several
classes (E. Lazowska and others, Quantitative System Performance, 1984, chapter 7).  D is the cost
of a message at low load, so that the predicted rate is a lower bound.  The waiting time of each
test case grows with the CPU that all use.  Each has load generators of its own, which are not
considered as a limit here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, conform
from mqperf.study.tables.axes import LAYOUT
from mqperf_capacity.study import assumptions, latencies
from mqperf_capacity.study.demands import Demands, demands
from mqperf_capacity.study.points import CLIENTS, HOST, SERVERS, Model, models
from mqperf_capacity.study.predictions import (
    ALL,
    AT_LEAST,
    LEAST_COST,
    TARGET,
    Asked,
    Row,
    Scenario,
    with_ends,
)
from mqperf_capacity.study.regression import Floats
from mqperf_capacity.study.terms import IDLE, of_message

Estimate = tuple[float, Floats]
"""A value, and draws of its distribution."""


@dataclass(frozen=True)
class Mix:
    """Test cases with their rates, and the demands of each (``known``) on a layout.

    ``refused`` is the reason if nothing is predicted; ``cores`` are those of each node.
    """

    layout: Mapping[str, str]
    words: str
    rates: Mapping[str, float]
    known: Mapping[str, Demands]
    cores: float | None
    refused: str | None

    @property
    def rows(self) -> list[Row]:
        """Rows of ``predictions``: of every role, of all together, and of each test case."""
        if self.refused is not None:
            return []
        asked = ", ".join(f"{name} {rate:g} msg/sec" for name, rate in self.rates.items())
        common = {**self.layout, "parameters": "; ".join(filter(None, [self.words, asked]))}
        first = min(self.roles, key=lambda row: float(row["full_msg_s"]))
        full = {name: value for name, value in first.items() if name.startswith("full_")}
        beyond = "; ".join(self.beyond()) or None
        whole = {"role": ALL, "asked_rate_msg_s": self.total, **full, "extrapolated": beyond}
        return [{**common, **row} for row in (*self.roles, whole, *self.cases)]

    @property
    def total(self) -> float:
        """Messages a second of all test cases."""
        return sum(self.rates.values())

    def beyond(self) -> Iterator[str]:
        """The ways in which the prediction is an extrapolation, in words."""
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
            own = Scenario(known, Asked(self.cores), None).capacities
            most |= {role: max(cores, most.get(role, 0.0)) for role, cores in own.items()}
        return {role: most[role] for role in most if role in common_to(self.known)}

    @cached_property
    def used(self) -> Mapping[str, tuple[Estimate, Estimate]]:
        """Role -> the cores that it uses when idle, and for all messages of a second."""
        return {role: (self._idle(role), self._busy(role)) for role in self.capacities}

    def _idle(self, role: str) -> Estimate:
        """The mean of the estimates from the runs of each test case."""
        idle = [known.cpu[role].at({IDLE: 1.0}) for known in self.known.values()]
        return float(np.mean([value for value, _ in idle])), np.mean([of for _, of in idle], axis=0)

    def _busy(self, role: str) -> Estimate:
        uses = []
        for name, known in self.known.items():
            cost, costs = known.cpu[role].at(of_message(known.longest_body))
            rate = self.rates[name]
            uses.append((rate * cost, rate * costs * known.variation(role)))
        return sum(value for value, _ in uses), np.sum([draws for _, draws in uses], axis=0)

    @cached_property
    def roles(self) -> list[Row]:
        """The CPU that each role has and uses, and the total rate at which it is full."""
        return [self._of_role(role) for role in self.capacities]

    def _of_role(self, role: str) -> Row:
        cores, ((idle, idles), (busy, draws)) = self.capacities[role], self.used[role]
        full = self.total * max(0.0, cores - idle) / max(busy, LEAST_COST)
        fulls = self.total * np.maximum(cores - idles, 0.0) / np.maximum(draws, LEAST_COST)
        row = with_ends("used_cores", idle + busy, idles + draws)
        return {
            "role": role,
            "asked_rate_msg_s": self.total,
            "capacity_cores": cores,
            **with_ends("full_msg_s", full, fulls),
            "full_is": AT_LEAST,
            **row,
            "used_share": row["used_cores"] / cores,
            "needed_cores": None if role == HOST else row["used_cores_high"] / TARGET,
        }

    @cached_property
    def cases(self) -> list[Row]:
        """Latency of each test case, if there are nodes, and the fullest node has CPU left."""
        return [{"role": ALL, "test_case": name, **self._latency(name)} for name in self.rates]

    def _latency(self, name: str) -> Row:
        row: Row = {"asked_rate_msg_s": self.rates[name]}
        nodes = {each["role"]: each["used_share"] for each in self.roles if each["role"] != HOST}
        fullest = max(nodes, key=lambda role: nodes[role], default="")
        if not fullest or nodes[fullest] > latencies.BUSIEST:
            return row
        cores, known = self.capacities[fullest], self.known[name]
        draws = np.sum([draws for _, draws in self.used[fullest]], axis=0) / cores
        for percentile in latencies.PERCENTILES:
            at = latencies.at(known, percentile, nodes[fullest], draws, cores)
            if at is not None:
                row |= with_ends(percentile.removeprefix("latency_"), *at)
        return row


def mixes(tables: Tables, rates: Mapping[str, float], cores: float | None = None) -> list[Mix]:
    """A mix for each layout, and other parameters, on which any of the test cases was measured."""
    layouts: dict[tuple[str, ...], dict[str, Model]] = {}
    for model in models(tables):
        test_case = model.keys["test_case"]
        layout = (*(model.keys[name] for name in LAYOUT), model.words)
        if test_case in rates:
            layouts.setdefault(layout, {})[test_case] = model
    return [
        _mix(dict(zip(LAYOUT, values, strict=True)), words, rates, of_layout, cores)
        for (*values, words), of_layout in layouts.items()
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
    """The reasons why nothing can be predicted."""
    for name, rate in rates.items():
        title = TEST_CASES[name].title
        if name not in known:
            yield f"there is no run of {title}"
        elif (why := known[name].why_not) is not None:
            yield f"{title}: {why}"
        else:
            for row in assumptions.broken(known[name], rate, known[name].longest_body):
                yield f"{title}: {row['assumption']}: {row['because']}"
    if not common_to(known) - ({HOST} if cores is not None else set()):
        yield "there is no broker that could be full"


def common_to(known: Mapping[str, Demands]) -> set[str]:
    """The roles that all these test cases use, without the load generators."""
    return set.intersection(*(set(each.cpu) for each in known.values())) - {CLIENTS, SERVERS}


def table(results: list[Mix]) -> pd.DataFrame:
    """The table ``predictions``."""
    return conform("predictions", pd.DataFrame([row for mix in results for row in mix.rows]))
