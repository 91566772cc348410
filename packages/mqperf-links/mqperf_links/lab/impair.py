"""Impair: the link has other quantities for a while, as when traffic takes a worse route."""

from typing import Self

from pydantic import BaseModel, Field, model_validator

from mqperf.base.errors import SystemFault
from mqperf.lab.actions.action import Target
from mqperf.plan import Frozen
from mqperf.plan.link import Bandwidth, Delay, Share
from mqperf_links.lab.on_link import on_link


class Impairment(Frozen):
    """The quantities of the link meanwhile; those not given stay as planned."""

    delay_s: Delay | None = Field(None, description="Delay each way.")
    jitter_s: Delay | None = Field(None, description="Standard deviation of that delay.")
    loss_share: Share | None = Field(None, description="Share of packets that are lost.")
    bandwidth_bits_s: Bandwidth | None = Field(None, description="Bits a second, each way.")

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not quantities(self):
            names = ", ".join(type(self).model_fields)
            raise ValueError(f"impair: say what the link is to be like: one of {names}, or more")
        return self


def quantities(parameters: BaseModel) -> dict[str, float]:
    """Return the quantities that the plan gives, by the names of columns."""
    return parameters.model_dump(exclude_none=True)


def check(target: Target) -> None:
    """Raise ``SystemFault`` if the link cannot have these quantities."""
    if target.cable is not None:
        why = target.cable.beyond(quantities(target.parameters))
        if why is not None:
            raise SystemFault(f"impair: {why}")


ACTION = on_link(
    "impair",
    "with the properties of its parameters, then with those of the plan again",
    lambda cable, parameters: cable.impair(quantities(parameters)),
    Impairment,
    check,
)
