"""Parameters of a load of declarations, and the test case that defines when one is finished."""

from pydantic import Field

from mqperf.plan import CaseParameters
from mqperf.plan.load.generator import Generator, clients
from mqperf.plan.test_cases import Finish, TestCase

TEST_CASE = TestCase(
    name="declare",
    number=12,
    title="DECLARE",
    short="DECLARE",
    heading="Declaration Churn Test",
    finish=Finish(
        stream="round_trip",
        latency="round-trip",
        points=(
            "Queues are counted at 2 points: ``sent`` (their declaration begun) and ``round-trip``"
            " (declared, bound and deleted). There are no servers, and no messages."
        ),
        counted="queues that were declared, bound and deleted",
        measured="Latency is the time of all three together, each of which the broker confirms.",
        lost="queues with neither end nor error",
    ),
    closed_loop=True,
    noun="queue",
    unit="queues",
    servers=False,
)


class Parameters(CaseParameters):
    """Parameters of the load: each is a column of tables, and may be a list."""

    bindings: int = Field(
        1,
        ge=1,
        le=1_000,
        strict=True,
        title="bindings of a queue",
        description="Bindings of each queue to an exchange, each with a key of its own.",
    )


of_case = Parameters.of_case

GENERATOR = Generator(
    name="declarations",
    title="AMQP 0-9-1 Declarations",
    link="https://www.rabbitmq.com/docs/queues",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    members=clients,
    encrypts=True,
)
