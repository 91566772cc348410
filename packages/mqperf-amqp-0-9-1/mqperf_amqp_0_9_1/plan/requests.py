"""Parameters of a load of requests, and the test case that defines when one is finished."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from mqperf.plan import CaseParameters
from mqperf.plan.columns import BYTES
from mqperf.plan.file.attached import MOST_BYTES
from mqperf.plan.load.generator import Generator
from mqperf.plan.test_cases import REPLY, TestCase

TEST_CASE = TestCase(
    name="request",
    number=13,
    title="REQUEST",
    short="REQUEST",
    heading="Request and Reply Throughput Test",
    finish=replace(
        REPLY, measured="Latency is that of the round trip, from the request to its reply."
    ),
    closed_loop=True,
)

Length = Annotated[int, Field(ge=0, le=MOST_BYTES, strict=True), BYTES]


class Parameters(CaseParameters):
    """Parameters of the load: each is a column of tables, and may be a list."""

    reply_to: Literal["direct", "queue"] = Field(
        "direct",
        title="reply-to",
        description="Where replies go: to the connection of the request (direct), which is"
        " RabbitMQ's direct reply-to, or to a queue that the connection has for itself.",
    )
    payload_bytes: Annotated[
        Length, Field(description="Length of the body of every request, of random bytes.")
    ] = 256
    reply_bytes: Annotated[
        Length,
        Field(
            title="length of replies",
            description="Length of the body of every reply, of random bytes.",
        ),
    ] = 256


of_case = Parameters.of_case

GENERATOR = Generator(
    name="requests",
    title="AMQP 0-9-1 Requests",
    link="https://www.rabbitmq.com/docs/direct-reply-to",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    encrypts=True,
)
