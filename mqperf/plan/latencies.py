"""The latency figures that plans may limit and tables have columns for.

The percentiles are defined only here: columns, computations and keys of plans are derived.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from mqperf.plan.values import Frozen

Limit = Annotated[float, Field(gt=0, le=1_000_000_000, allow_inf_nan=False)] | None
"""The highest allowed value of a figure, in seconds; None for no limit."""


class LatencyLimits(Frozen):
    """A limit for each latency figure; percentiles are named by their digits: p999 for 99.9 %."""

    latency_mean_s: Limit = None
    latency_p50_s: Limit = None
    latency_p90_s: Limit = None
    latency_p95_s: Limit = None
    latency_p99_s: Limit = None
    latency_p999_s: Limit = None

    @property
    def latencies(self) -> dict[str, float]:
        """The limits that are set, in seconds, by column."""
        limits = {name: getattr(self, name) for name in LATENCIES}
        return {name: limit for name, limit in limits.items() if limit is not None}


SHARES: Mapping[str, float] = {
    name: float(f"0.{name[1:]}")
    for column in LatencyLimits.model_fields
    if (name := column.split("_")[1]).startswith("p")
}
"""The share of messages that take no longer, by percentile: ``p999`` -> 0.999."""

PERCENTILES: Mapping[str, float] = {f"latency_{name}_s": SHARES[name] for name in SHARES}
"""The share of messages by column of the percentile: ``latency_p999_s`` -> 0.999."""

LATENCIES: Mapping[str, str] = {
    "latency_mean_s": "mean latency",
    **{name: f"p{share * 100:g}" for name, share in PERCENTILES.items()},
}
"""The name of each figure in sentences, by column."""
