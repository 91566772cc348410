"""The parameters of a plan for a chain, and its test case."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from mqperf.plan import CaseParameters
from mqperf.plan.columns import TIMES
from mqperf.plan.load import Generator
from mqperf.plan.test_cases import Finish, TestCase
from mqperf_openstack.plan.chain import names


def _shipped(name: str) -> str:
    """Return the name of a shipped chain; raise pydantic's error of a choice for any other."""
    if name not in names():
        choices = ", ".join(f"'{chain}'" for chain in names())
        raise PydanticCustomError("literal_error", "one of {expected}", {"expected": choices})
    return name


class Parameters(CaseParameters):
    """Each is a column of tables, and may be a list."""

    chain: Annotated[str, AfterValidator(_shipped)] = Field(
        "vm-creation", description="The chain of messages of one creation."
    )
    processing_scale: Annotated[float, TIMES] = Field(
        0.0,
        ge=0,
        le=1000,
        title="processing times",
        description="Factor on the processing times in the chain's table.",
    )


of_case = Parameters.of_case

TEST_CASE = TestCase(
    name="rpc-chain",
    number=5,
    title="RPC CHAIN",
    short="CHAIN",
    heading="RPC Chain Test",
    finish=Finish(
        stream="round_trip",
        latency="round-trip",
        points=(
            "Creations are counted at 3 points: ``sent`` (begun by the client), ``received``"
            " (arrived at the agent) and ``round-trip`` (come to their end at the client)."
        ),
        counted="creations that came to their end",
        measured="Latency is the duration of a creation, from its beginning at the client to its"
        " end there.",
        lost="creations with neither end nor error",
    ),
    closed_loop=True,
    noun="creation",
    unit="creations",
)

GENERATOR = Generator(
    name="rpc-chain",
    title="Chain of RPCs",
    link="https://docs.openstack.org/oslo.messaging/latest/",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    release="oslo.messaging",
    encrypts=True,
)
