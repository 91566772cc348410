"""Parameters of a load of AMQP 1.0 in a plan."""

from typing import Literal, Self

from pydantic import Field, model_validator

from mqperf.plan.load.generator import Generator
from mqperf_numbered.onhost.stamp_layout import SIZE
from mqperf_numbered.plan.paced import USUAL_BYTES, Delivery, Paced, RandomBody, TimeToLive


class Parameters(Paced):
    """Parameters of the load: each is a column of tables, and may be a list."""

    payload_bytes: RandomBody = USUAL_BYTES
    payload_spread: float | None = Field(
        None,
        gt=0,
        le=0.5,
        allow_inf_nan=False,
        title="spread of payload",
        description="Share of ``payload_bytes`` by which lengths of bodies differ from it, at"
        " random, either way: 0.05 for ± 5 %. Messages that are sent together have one length.",
    )
    links: int = Field(
        1,
        ge=1,
        le=2_000,
        strict=True,
        title="links of a connection",
        description="Threads that share a connection and its session, each with a link of its own.",
    )
    settlement: Literal["at-least-once", "pre-settled"] = Field(
        "at-least-once",
        description="Whether receivers settle messages, so that senders learn the outcome of each;"
        " or senders, who then never learn it.",
    )
    credit: int = Field(
        1_000,
        ge=1,
        le=1_000_000,
        strict=True,
        description="Messages that may be under way to a receiver; it grants more when half of them"
        " have arrived.",
    )
    priority: int | None = Field(
        None, ge=0, le=255, strict=True, description="Priority of messages; without it, 4."
    )
    delivery: Delivery = "transient"
    ttl_ms: TimeToLive = None

    @property
    def pre_settled(self) -> bool:
        """Whether senders settle messages, and never learn their outcome."""
        return self.settlement == "pre-settled"

    @model_validator(mode="after")
    def _room_in_the_least(self) -> Self:
        least = self.payload_bytes - round(self.payload_bytes * (self.payload_spread or 0))
        if least < SIZE:
            raise ValueError(
                f"payload_spread {self.payload_spread:g} leaves bodies of {least} bytes, and the"
                f" stamp in each has {SIZE}: raise payload_bytes, or lower payload_spread"
            )
        return self


of_case = Parameters.of_case

GENERATOR = Generator(
    name="amqp-1.0",
    title="AMQP 1.0 Senders and Receivers",
    protocol="AMQP 1.0",
    link="https://docs.oasis-open.org/amqp/core/v1.0/amqp-core-overview-v1.0.html",
    test_cases=("transfer", "publish"),
    parameters=Parameters,
    encrypts=True,
    ends_early=True,
)
