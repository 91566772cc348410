"""What a plan may say of a load of AMQP 1.0."""

from typing import Annotated, Literal

from pydantic import Field

from mqperf.load.numbered.parameters import USUAL_BYTES, Delivery, Paced, Size, TimeToLive
from mqperf.plan import Case


class Parameters(Paced):
    """Each is a column of the register of columns, and may be a list."""

    payload_bytes: Annotated[Size, Field(description="Length of every body, of random bytes.")] = (
        USUAL_BYTES
    )
    links: Annotated[
        int,
        Field(
            ge=1,
            le=2_000,
            strict=True,
            description="Threads that share a connection and its session, each with a link of its"
            " own.",
        ),
    ] = 1
    settlement: Annotated[
        Literal["at-least-once", "pre-settled"],
        Field(
            description="Whether receivers settle messages, so that senders learn what became of"
            " each; or senders, who then never do."
        ),
    ] = "at-least-once"
    credit: Annotated[
        int,
        Field(
            ge=1,
            le=1_000_000,
            strict=True,
            description="Messages that may be under way to a receiver; it gives more when half of"
            " them have come.",
        ),
    ] = 1_000
    delivery: Delivery = "transient"
    priority: Annotated[
        int | None,
        Field(ge=0, le=255, strict=True, description="Priority of messages; without it, 4."),
    ] = None
    ttl_ms: TimeToLive = None


def of_case(case: Case) -> Parameters:
    """The parameters of a case."""
    return Parameters.model_validate(dict(case.parameters))
