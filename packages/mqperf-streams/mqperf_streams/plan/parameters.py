"""Parameters of a load of streams in a plan."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mqperf.plan import Misplaced
from mqperf.plan.load.generator import Generator
from mqperf_amqp_0_9_1.plan.test_case import TEST_CASE
from mqperf_numbered.plan.paced import USUAL_BYTES, Paced, RandomBody

MOST_BYTES = 1_000_000
"""The longest body, so that a frame is within the megabyte that is agreed with brokers."""


class Parameters(Paced):
    """Parameters of the load: each is a column of tables, and may be a list."""

    payload_bytes: Annotated[RandomBody, Field(le=MOST_BYTES)] = USUAL_BYTES
    confirms: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        strict=True,
        title="unconfirmed messages",
        description="Messages of a thread that may wait for the broker's confirm.",
    )
    offset: Literal["first", "last", "next"] = Field(
        "first",
        description="Where in the stream consumers begin: with the first message, the last chunk of"
        " messages, or the next message that arrives.",
    )
    chunk_credit: int = Field(
        10,
        ge=1,
        le=1_000,
        strict=True,
        title="chunks under way",
        description="Chunks of messages that may be under way to a consumer.",
    )
    partitions: int = Field(
        1,
        ge=1,
        le=100,
        strict=True,
        description="Partitions of the super stream of a thread; with 1 it is a plain stream.",
    )

    @model_validator(mode="after")
    def _nothing_is_skipped(self) -> Self:
        if self.consume_after_s is not None and self.offset != "first":
            text = (
                f"consumers that start late at the {self.offset} message skip those before, which"
                " would count as lost: say offset: first"
            )
            raise Misplaced(("offset",), text)
        return self


def incompatible_queues(kind: str, _values: Mapping[str, object]) -> str | None:
    """Return why a load with such parameters cannot use a kind of queue; None if it can."""
    return None if kind == "stream" else "it publishes to streams only: plan queues: [stream]"


of_case = Parameters.of_case

GENERATOR = Generator(
    name="rabbitmq-stream",
    title="Stream Publishers and Consumers",
    protocol="stream protocol",
    link="https://www.rabbitmq.com/docs/stream",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    encrypts=True,
    ends_early=True,
    incompatible_queues=incompatible_queues,
)
