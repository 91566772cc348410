"""Parameters of consumers that reject deliveries, and of dead letters."""

from typing import Self

from pydantic import Field, model_validator

from mqperf.plan import Frozen, Misplaced
from mqperf_amqp_0_9_1.onhost.dead_letters import Strategy

LIMITED = ("quorum", "ha")
"""The kinds of queues that have, or may have, a delivery limit."""


class Rejecting(Frozen):
    """Parameters: the share of rejected deliveries, the delivery limit, and dead letters."""

    reject_share: float | None = Field(
        None,
        gt=0,
        le=1,
        title="share rejected",
        description="The share of deliveries that consumers reject, to be delivered again; chosen"
        " by chance. Without it, they reject none.",
    )
    delivery_limit: int | None = Field(
        None,
        ge=0,
        le=1_000,
        strict=True,
        title="delivery limit",
        description="How often a quorum queue delivers a rejected message again; one that is"
        " rejected once more is dead. Without it, the broker's default.",
    )
    dead_letters: Strategy | None = Field(
        None,
        title="dead letters",
        description="How dead messages get from a queue to one of dead letters, whose consumer"
        " accepts all: at most once, or at least once. Without it, they are dropped.",
    )

    @model_validator(mode="after")
    def _all_end(self) -> Self:
        if self.delivery_limit is not None and self.reject_share is None:
            raise Misplaced(("delivery_limit",), "nothing is rejected: give reject_share, too")
        if self.dead_letters is not None and self.delivery_limit is None:
            raise Misplaced(("dead_letters",), "no message dies: give delivery_limit, too")
        if self.reject_share == 1 and self.delivery_limit is None:
            text = "messages would be delivered for ever: give less than 1, or delivery_limit"
            raise Misplaced(("reject_share",), text)
        return self
