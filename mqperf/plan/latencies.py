"""The figures of latency: what a plan may limit, and what tables have columns of.

Which percentiles there are is said here only: columns, computations and keys of plans follow.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from mqperf.plan.values import Frozen

Limit = Annotated[float, Field(gt=0, le=1_000_000_000, allow_inf_nan=False)] | None
"""Most seconds that a figure may have; None where it may have any."""


class LatencyLimits(Frozen):
    """A limit for each figure of latency; a percentile is named by its digits: p999 for 99.9 %."""

    latency_mean_s: Limit = None
    latency_p50_s: Limit = None
    latency_p90_s: Limit = None
    latency_p95_s: Limit = None
    latency_p99_s: Limit = None
    latency_p999_s: Limit = None

    @property
    def latencies(self) -> dict[str, float]:
        """The limits in seconds that there are, by column."""
        limits = {name: getattr(self, name) for name in LATENCIES}
        return {name: limit for name, limit in limits.items() if limit is not None}


SHARES: Mapping[str, float] = {
    name: float(f"0.{name[1:]}")
    for column in LatencyLimits.model_fields
    if (name := column.split("_")[1]).startswith("p")
}
"""The share of messages that take no longer, by percentile: ``p999`` -> 0.999."""

PERCENTILES: Mapping[str, float] = {f"latency_{name}_s": SHARES[name] for name in SHARES}
"""The same by the column of the latency."""

LATENCIES: Mapping[str, str] = {
    "latency_mean_s": "mean latency",
    **{name: f"p{share * 100:g}" for name, share in PERCENTILES.items()},
}
"""What each is called in a sentence."""
