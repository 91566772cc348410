"""The offered rate of a load and its changes: parameters that rate-based generators share."""

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from mqperf.plan import Case, CaseParameters, Misplaced
from mqperf.plan.columns import MESSAGE_RATE

if TYPE_CHECKING:
    from mqperf.onhost.load.curves import SteppedRate

Rate = Annotated[float | None, Field(gt=0, le=10_000_000), MESSAGE_RATE]
OfferedRate = Annotated[
    Rate,
    Field(
        title="offered rate",
        description="Messages a second over all threads; without it, as fast as possible.",
    ),
]


MessageCount = Annotated[
    int | None,
    Field(
        ge=1,
        le=10_000_000_000,
        strict=True,
        title="messages to send",
        description="Messages that all threads send together: the load then ends, at the latest"
        " after its ``duration_s``.",
    ),
]


class Ramped(CaseParameters):
    """The offered rate and its ramp; without a rate, messages are sent as fast as possible."""

    rate_msg_s: OfferedRate = None
    ramp_to_msg_s: Rate = Field(
        None,
        title="rate at the end",
        description="The rate at the end of the load: it changes evenly, from ``rate_msg_s`` at"
        " its start.",
    )
    ramp_steps: int | None = Field(
        None,
        ge=2,
        le=1_000,
        strict=True,
        title="steps of the rate",
        description="The rate changes in this many steps instead of evenly: all are equally long,"
        " the first is at ``rate_msg_s``, the last at ``ramp_to_msg_s``.",
    )
    ramp_steps_by: Literal["difference", "ratio"] = Field(
        "difference",
        title="steps differ by",
        description="Whether steps of the rate differ by equal differences, or by equal ratios.",
    )

    @model_validator(mode="after")
    def _complete_ramp(self) -> Self:
        if self.ramp_to_msg_s is not None and self.rate_msg_s is None:
            text = "it needs the rate at the start: give rate_msg_s, too"
            raise Misplaced(("ramp_to_msg_s",), text)
        if self.ramp_steps is not None and self.ramp_to_msg_s is None:
            text = "they lead to another rate: give ramp_to_msg_s, too"
            raise Misplaced(("ramp_steps",), text)
        return self

    def stairs(self, load_s: float) -> "SteppedRate | None":
        """Return the rate steps of a load of ``load_s`` over all threads; None without steps."""
        if self.rate_msg_s is None or self.ramp_to_msg_s is None or self.ramp_steps is None:
            return None
        from mqperf.onhost.load.curves import SteppedRate  # imports numpy, which is slow

        ends = self.rate_msg_s, self.ramp_to_msg_s
        by_ratio = self.ramp_steps_by == "ratio"
        return SteppedRate(*ends, load_s, self.ramp_steps, by_ratio=by_ratio)


def stairs_of(case: Case) -> "SteppedRate | None":
    """Return the rate steps of a case of any generator; None without steps."""
    ramp = {name: case.parameters[name] for name in Ramped.model_fields if name in case.parameters}
    return Ramped.model_validate(ramp).stairs(case.load_s)
