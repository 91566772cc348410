"""The parameters of a plan for the traffic of compute nodes."""

from typing import Annotated

from pydantic import Field

from mqperf.plan import CaseParameters
from mqperf.plan.columns import TIMES
from mqperf.plan.load import Generator
from mqperf_amqp_0_9_1.plan.test_case import TEST_CASE


class Parameters(CaseParameters):
    """Each is a column of tables, and may be a list."""

    compute_nodes: int = Field(
        100,
        ge=1,
        le=10_000,
        strict=True,
        title="compute nodes",
        description="Compute nodes, each with a connection to send and one to listen.",
    )
    pace: Annotated[float, TIMES] = Field(
        1.0,
        gt=0,
        le=10_000,
        description="Factor on the frequency at which OpenStack's defaults send everything.",
    )


of_case = Parameters.of_case

GENERATOR = Generator(
    name="compute-nodes",
    title="Traffic of compute nodes",
    link="https://docs.openstack.org/oslo.messaging/latest/",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    encrypts=True,
)
