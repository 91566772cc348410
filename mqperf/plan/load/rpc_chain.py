"""What a plan may say of a chain."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from mqperf.plan import Case, Frozen
from mqperf.plan.columns import TIMES
from mqperf.plan.load.chain import names
from mqperf.plan.load.generator import Generator


def _shipped(name: str) -> str:
    """One of the chains that ship, told as pydantic tells of a choice."""
    if name not in names():
        known = ", ".join(f"'{chain}'" for chain in names())
        raise PydanticCustomError("literal_error", "one of {expected}", {"expected": known})
    return name


class Parameters(Frozen):
    """Each is a column of tables, and may be a list."""

    chain: Annotated[
        str, AfterValidator(_shipped), Field(description="The chain that makes a creation.")
    ] = "vm-creation"
    processing_scale: Annotated[
        float,
        Field(
            ge=0,
            le=1000,
            title="processing times",
            description="So many times the processing times of the chain's table are waited.",
        ),
        TIMES,
    ] = 0.0


def of_case(case: Case) -> Parameters:
    """The parameters of a case."""
    return Parameters.model_validate(dict(case.parameters))


GENERATOR = Generator(
    name="rpc-chain",
    title="Chain of RPCs",
    link="https://docs.openstack.org/oslo.messaging/latest/",
    test_cases=("rpc-chain",),
    parameters=Parameters,
    release="oslo.messaging",
    encrypts=True,
)
