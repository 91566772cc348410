"""Clocks of several hosts: their error in one-way latencies, and their drift during a run."""

from collections.abc import Iterator

from mqperf.record import CLOCK_STEP_LIMIT_S
from mqperf.study.stats.rules.finding import Finding, Row, each, one_way
from mqperf.study.tables import Tables
from mqperf.study.tables.clocks import LARGE_SHARE

DRIFT = 500e-6
"""Largest drift of a clock, as a share of time; kernels correct clocks by no more, either."""


def clock_offset(tables: Tables) -> Iterator[Finding]:
    """One-way latencies that are not large against the error bound of the hosts' clocks."""
    latency = tables["latency"][["run", "latency_p50_s", "latency_uncertainty_s"]]
    frame = one_way(tables).merge(latency.drop_duplicates("run"), on="run", how="left")
    unsure = frame["latency_uncertainty_s"].fillna(0.0)
    median = frame["latency_p50_s"].fillna(frame["latency_mean_s"])
    below = (frame["latency_mean_s"] < -unsure) | (median < -unsure)
    rows = frame.assign(median=median, unsure=unsure, below=below)
    for row in each(rows[below | (unsure > LARGE_SHARE * median.abs())]):
        wrong = f"{row.unsure * 1e3:.2f} ms"
        yield Finding(
            row.run,
            f"the one-way latency of {row.median * 1e3:.2f} ms (median) "
            + (
                f"is below zero by more than the error bound of the clocks, {wrong}: an offset was"
                " measured wrongly, or a clock was set"
                if row.below
                else f"has an error bound of ± {wrong} from the clocks of the hosts"
            ),
            {"latency_p50_s": row.median, "latency_uncertainty_s": row.unsure},
        )


def clock_drift(tables: Tables) -> Iterator[Finding]:
    """Hosts whose clock moved against the controller's by more than drift explains."""
    hosts = tables["hosts"]
    change = hosts["clock_offset_after_s"] - hosts["clock_offset_before_s"]
    bounds = hosts["clock_bound_before_s"] + hosts["clock_bound_after_s"]
    limit = (bounds + DRIFT * hosts["clock_between_s"]).clip(upper=CLOCK_STEP_LIMIT_S)
    for row in each(hosts.assign(change=change, limit=limit)[change.abs() > limit]):
        yield Finding(row.run, _drifted(row), {"change_s": row.change, "limit_s": row.limit})


def _drifted(row: Row) -> str:
    return (
        f"the clock of host {row.host} went {'ahead' if row.change > 0 else 'behind'} by"
        f" {abs(row.change) * 1e3:.3g} ms during the run, more than the {row.limit * 1e3:.3g} ms"
        " that drift and measurement explain"
    )
