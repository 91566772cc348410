"""The cost of a message where a role has no CPU left, and so the rate that the role sustains.

A role that falls behind finds several messages at a time, and does once for all of them what it
otherwise does for each: wake up, read, write.  So a message costs less then than at low load (N.
Bailey, On Queueing Processes with Bulk Service, 1954); only runs at full load show by how much.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from mqperf_capacity.study.points import Model
from mqperf_capacity.study.regression import Fit, fit
from mqperf_capacity.study.terms import APART, BYTE, terms_of

USED_UP = 0.9
"""Share of its CPU from which on a role is full."""


@dataclass(frozen=True, slots=True)
class FullLoad:
    """The cost of a message to each role, from runs in which some role was full.

    Roles in ``full`` were full themselves; a message may cost other roles even less when they are.
    ``seen`` has full roles with their CPU, in runs with bodies of about the requested length.
    """

    costs: Mapping[str, Fit]
    full: frozenset[str]
    seen: frozenset[tuple[str, float]]


def full_load(model: Model, payload: float | None) -> FullLoad:
    """The costs at full load of a model, for bodies of this length."""
    used = model.used[model.used["run"].map(model.utilisation()).ge(USED_UP)]
    used = used.merge(model.runs[["run", "rate", "body_bytes"]], on="run")
    used = used.assign(full=used["cores"] >= USED_UP * used["capacity"])
    near = True if payload is None else used["body_bytes"].between(payload / APART, APART * payload)
    seen = used[used["full"] & near]
    costs: dict[str, Fit] = {}
    full: set[str] = set()
    for role, rows in used.groupby("role", sort=False):
        when_full = rows[rows["full"]]
        for runs in (when_full, rows):
            fitted = _fitted(runs, str(role), payload)
            if fitted is not None:
                costs[str(role)] = fitted
                full |= {str(role)} if runs is when_full else set()
                break
    conditions = zip(seen["role"], seen["capacity"], strict=True)
    return FullLoad(costs, frozenset(full), frozenset(conditions))


def _fitted(runs: pd.DataFrame, role: str, payload: float | None) -> Fit | None:
    """Fit the runs; None for too few, or for another length if the cost of a byte is unknown."""
    if runs.empty:
        return None
    terms, lengths = terms_of(runs), runs["body_bytes"]
    known = payload is None or BYTE in terms or lengths.isna().any()
    if not known and not lengths.min() / APART <= payload <= APART * lengths.max():
        return None
    return fit(terms, runs["cores"].to_numpy(float), f"{role} full")
