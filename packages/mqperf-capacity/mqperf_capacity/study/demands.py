"""Service demands: what a message costs each role, from runs at half load or below.

By the utilisation law a resource is busy for U = X · D, where X is the throughput and D the service
demand, the time for which a message keeps it busy (P. Denning and J. Buzen, The Operational
Analysis of Queueing Network Models, 1978).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mqperf.study.tables import Tables, conform
from mqperf_capacity.study.full_load import full_load
from mqperf_capacity.study.points import Model, at_most, models
from mqperf_capacity.study.regression import Fit, Floats, fit
from mqperf_capacity.study.terms import BYTE, IDLE, MESSAGE, apart, terms_at, terms_of

HALF = 0.5
"""Share of capacity up to which demands are taken from a run: there is little waiting for CPU, and
brokers do not yet save work by handling many messages at once."""

ANOTHER_START = 0.12
"""Standard deviation of the logarithm of a role's CPU after another start of the broker, at another
rate, that repeats do not show: about what errors of held-out runs have beyond the spread of repeats
(``benchmarks/capacity.py``)."""

FEW = 3
"""Runs below which there are no intervals, and so no demands."""


@dataclass(frozen=True, slots=True)
class Demands:
    """What each role of a model uses, as a function of rate and payload.

    ``cpu`` is in cores; the host's is the sum of all others.  ``sys`` is the part of that in the
    kernel; ``network`` is in bytes a second, None where it is not known.  ``runs`` are the runs at
    low load that were fitted; ``why_not`` is the reason if there are no demands.
    """

    model: Model
    runs: pd.DataFrame
    cpu: Mapping[str, Fit]
    sys: Mapping[str, Fit]
    network: Fit | None
    why_not: str | None = None

    @property
    def payloads(self) -> list[float]:
        """The lengths of bodies that were measured, smallest first."""
        return sorted(self.runs["body_bytes"].dropna().unique())

    @property
    def longest_body(self) -> float | None:
        """The longest measured body, which costs most; None if no length is known."""
        return max(self.payloads, default=None)

    def by_payload(self) -> bool:
        """Whether the cost of a byte is known."""
        return apart(self.runs["body_bytes"].dropna())

    def used(self, role: str, rate: float, payload: float | None) -> tuple[float, Floats]:
        """Cores that a role uses at a rate, with draws of their distribution."""
        return self.cpu[role].at(terms_at(rate, payload))

    def in_a_run(self, role: str, rate: float, payload: float | None) -> tuple[float, Floats]:
        """The same, with draws that include the variation of one further run."""
        used, draws = self.used(role, rate, payload)
        return used, draws * self.variation(role)

    def variation(self, role: str) -> Floats:
        """Draws of the factor by which the CPU of a role in one further run differs."""
        noise = np.maximum(1 + self.cpu[role].noise, 0.0)
        return noise * np.random.default_rng(0).lognormal(0.0, ANOTHER_START, len(noise))


def demands(model: Model) -> Demands:
    """The demands of a model, fitted to its runs at low load."""
    runs = model.runs[model.runs["run"].isin(at_most(model, HALF))]
    if (why := _why_none(model, runs)) is not None:
        return Demands(model, runs, {}, {}, None, why)
    terms = {IDLE: np.ones(len(runs)), **terms_of(runs)}
    used = model.used.merge(runs[["run"]], on="run")
    cpu: dict[str, Fit] = {}
    system: dict[str, Fit] = {}
    for role, rows in used.groupby("role", sort=False):
        ordered = runs[["run"]].merge(rows, on="run", how="left")
        if ordered["cores"].isna().any():
            continue
        for fits, name in ((cpu, "cores"), (system, "sys")):
            fitted = fit(terms, ordered[name].fillna(0.0).to_numpy(float), f"{role} {name}")
            if fitted is not None:
                fits[str(role)] = fitted
    traffic = runs[["run"]].merge(model.network, on="run", how="left")["bytes_s"]
    known = len(traffic) and traffic.notna().all() and traffic.gt(0).all()
    network = fit(terms, traffic.to_numpy(float), "network") if known else None
    missing = [role for role in model.roles if role not in cpu]
    why = f"the runs do not tell what {missing[0]} uses" if missing else None
    return Demands(model, runs, cpu, system, network, why)


def table(tables: Tables) -> pd.DataFrame:
    """The table ``demands``: a row for each role of each model."""
    rows = [row for model in models(tables) for row in _rows(demands(model))]
    return conform("demands", pd.DataFrame(rows))


def _rows(known: Demands) -> Iterator[dict[str, Any]]:
    runs = known.runs
    common = {
        **known.model.keys,
        "parameters": known.model.words or None,
        "runs_used": len(runs),
        "rate_lowest_msg_s": runs["rate"].min() if len(runs) else None,
        "rate_highest_msg_s": runs["rate"].max() if len(runs) else None,
    }
    at_full_load = full_load(known.model, None).costs
    for role, fitted in known.cpu.items():
        demand, low, high = fitted.of(MESSAGE)
        system = known.sys[role].of(MESSAGE)[0] if role in known.sys else None
        yield {
            **common,
            "role": role,
            "idle_cores": fitted.of(IDLE)[0],
            "demand_s": demand,
            "demand_s_low": low,
            "demand_s_high": high,
            "demand_sys_s": None if system is None else min(system, demand),
            "demand_byte_s": fitted.of(BYTE)[0] if known.by_payload() else None,
            **_full_load_columns(at_full_load.get(role)),
            "residual_share": fitted.spread,
        }
    if known.network is not None:
        size, low, high = known.network.of(MESSAGE)
        yield {
            **common,
            "role": "network",
            "message_bytes": size,
            "message_bytes_low": low,
            "message_bytes_high": high,
            "bytes_per_byte": known.network.of(BYTE)[0] if known.by_payload() else None,
            "residual_share": known.network.spread,
        }


def _full_load_columns(fitted: Fit | None) -> dict[str, float | None]:
    """Columns for the cost of a message at full load; none without a fit."""
    if fitted is None:
        return {}
    demand, low, high = fitted.of(MESSAGE)
    return {
        "demand_full_s": demand,
        "demand_full_s_low": low,
        "demand_full_s_high": high,
        "demand_full_byte_s": fitted.of(BYTE)[0] if BYTE in fitted.names else None,
    }


def _why_none(model: Model, runs: pd.DataFrame) -> str | None:
    """The reason if there are no demands."""
    if model.used.empty:
        return "no CPU was recorded over the windows: it needs runs with the probe psutil"
    if len(runs) < FEW:
        return (
            f"{len(runs)} of {len(model.runs)} runs had no role above half of its CPU, and {FEW}"
            " are needed: measure lower rates, or more repeats"
        )
    if not apart(runs["rate"]):
        return "all runs at half load or below have about the same rate: measure another"
    return None
