"""A fail condition: what need not go on when it has lasted for some seconds of the window.

It is judged by what servers write while they run: how many messages they have handled, and how long
these took together.  There are no percentiles there, and nothing of what is lost.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from mqperf.plan.values import Frozen

Positive = Annotated[float, Field(gt=0, le=1_000_000_000, allow_inf_nan=False)]


class FailWhen(Frozen):
    """A run ends early when any of these is so for ``for_s`` seconds of its window on end.

    Means and rates are over each second, of what all servers handled in it.
    """

    latency_mean_s: Positive | None = None
    throughput_msg_s: Positive | None = None
    throughput_share: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    for_s: Annotated[int, Field(ge=1, le=3_600, strict=True)] = 3

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set & {*type(self).model_fields} - {"for_s"}:
            raise ValueError(
                "a fail condition names at least one of latency_mean_s, throughput_msg_s and"
                " throughput_share"
            )
        return self
