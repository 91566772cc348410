"""What a plan may say of the simulator's load."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mqperf.plan import Case, Frozen, Misplaced
from mqperf.plan.columns import BYTES, SECONDS
from mqperf.plan.file.attached import MOST_BYTES
from mqperf.plan.load.generator import Generator
from mqperf.plan.load.ramped import Ramped


class Messages(Frozen):
    """What is sent where, and the pause after each message."""

    targets: Annotated[
        Literal["own", "shared"],
        Field(description="Each client has a server of its own, or all servers share one topic."),
    ] = "own"
    payload_bytes: Annotated[
        int | None,
        Field(
            ge=1,
            le=MOST_BYTES,
            strict=True,
            title="payload",
            description="Length of every body; without it, from the simulator's table.",
        ),
        BYTES,
    ] = None
    pause_s: Annotated[
        float,
        Field(
            ge=0,
            le=3600,
            title="pause",
            description="Seconds that a thread waits after each message.",
        ),
        SECONDS,
    ] = 0.0


class Parameters(Ramped, Messages):
    """Each is a column of tables, and may be a list."""

    @model_validator(mode="after")
    def _in_steps(self) -> Self:
        if self.ramp_to_msg_s is not None and self.ramp_steps is None:
            text = "the simulator changes its rate in steps alone: give ramp_steps, too"
            raise Misplaced(("ramp_to_msg_s",), text)
        return self


def of_case(case: Case) -> Parameters:
    """The parameters of a case."""
    return Parameters.model_validate(dict(case.parameters))


GENERATOR = Generator(
    name="simulator",
    title="Oslo.messaging Simulator",
    link="https://github.com/openstack/oslo.messaging/blob/master/tools/simulator.py",
    test_cases=("rpc-call", "rpc-cast", "notify"),
    parameters=Parameters,
    release="oslo.messaging",
    encrypts=True,
)
