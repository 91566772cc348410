"""Fail conditions, which end a run early when they last for some seconds of the window.

They are judged by what servers write while they run: the number of messages handled, the sum of
their latencies, how many exceeded the limits, and how many earlier ones were still missing.
"""

from typing import Annotated, Any, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from mqperf.plan.latencies import PERCENTILES, LatencyLimits

Positive = Annotated[float, Field(gt=0, le=1_000_000_000, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class FailWhen(LatencyLimits):
    """A run ends early when any of these is violated for ``for_s`` consecutive seconds.

    Each is evaluated for every second of the window, over what all servers handled in it.
    """

    throughput_msg_s: Positive | None = None
    throughput_share: Share | None = None
    lost_share: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] | None = None
    for_s: int = Field(3, ge=1, le=3_600, strict=True)

    @property
    def percentiles(self) -> dict[str, float]:
        """The limits of percentiles in seconds, by key."""
        return {name: limit for name, limit in self.latencies.items() if name in PERCENTILES}

    @model_serializer(mode="wrap")
    def _without_later_keys(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit keys that were added later and are not set, so that ids of cases do not change."""
        values: dict[str, Any] = serialize(self)
        later = {*PERCENTILES, "lost_share"}
        return {
            name: value for name, value in values.items() if value is not None or name not in later
        }

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set & CONDITIONS:
            raise ValueError(
                "a fail condition names at least one of latency_mean_s, latency_p99_s (or another"
                " percentile), throughput_msg_s, throughput_share and lost_share"
            )
        return self


CONDITIONS = frozenset(FailWhen.model_fields) - {"for_s"}
"""Keys of the figures that may fail a run."""
