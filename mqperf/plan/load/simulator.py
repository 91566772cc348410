"""Parameters of the simulator in the load of a plan."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mqperf.plan import Case, Frozen, Misplaced
from mqperf.plan.columns import BYTES, SECONDS
from mqperf.plan.driver import KINDS, Driven, with_options
from mqperf.plan.file.attached import MOST_BYTES
from mqperf.plan.load.generator import Generator
from mqperf.plan.load.ramped import MessageCount, Ramped
from mqperf.plan.topologies import QUEUES

FANOUT = "rpc-fanout"


class Messages(Frozen):
    """Targets, size and number of messages, and the pause after each."""

    targets: Literal["own", "shared"] = Field(
        "own", description="Each client has a server of its own, or all servers share one topic."
    )
    payload_bytes: Annotated[int | None, BYTES] = Field(
        None,
        ge=1,
        le=MOST_BYTES,
        strict=True,
        title="payload",
        description="Length of every body; without it, from the simulator's table.",
    )
    pause_s: Annotated[float, SECONDS] = Field(
        0.0,
        ge=0,
        le=3600,
        title="pause",
        description="Seconds that a thread waits after each message.",
    )
    message_count: MessageCount = None


class Paced(Ramped, Messages):
    """The simulator's parameters without driver options."""

    @model_validator(mode="after")
    def _in_steps(self) -> Self:
        if self.ramp_to_msg_s is not None and self.ramp_steps is None:
            text = "the simulator changes its rate in steps alone: give ramp_steps, too"
            raise Misplaced(("ramp_to_msg_s",), text)
        if self.message_count is not None and self.rate_msg_s is not None:
            text = "the simulator counts what it sends as fast as it can: leave out rate_msg_s"
            raise Misplaced(("message_count",), text)
        return self


class Stated(Driven, Paced):
    """The simulator's parameters; ``with_options`` adds a field for each driver option."""


PARAMETERS = with_options("Parameters", Stated)

of_case = PARAMETERS.of_case


def servers_each(case: Case) -> int:
    """Return how many servers receive each message."""
    shared = case.test_case == FANOUT and of_case(case).targets == "shared"
    return case.processes * case.hosts if shared else 1


def incompatible_queues(kind: str, values: Mapping[str, object]) -> str | None:
    """Return why a load with these values cannot use a kind of queue; None where it can."""
    if QUEUES[kind].log:
        return "it consumes from queues only"
    option = next((name for name in KINDS if values.get(name) is not None), None)
    if option is None or QUEUES[kind].declared:
        return None
    return f"{option} says itself what queues are: say queues: [declared]"


GENERATOR = Generator(
    name="simulator",
    title="Oslo.messaging Simulator",
    link="https://github.com/openstack/oslo.messaging/blob/master/tools/simulator.py",
    test_cases=("rpc-call", "rpc-cast", "notify", FANOUT),
    parameters=PARAMETERS,
    copies=servers_each,
    incompatible_queues=incompatible_queues,
    release="oslo.messaging",
    encrypts=True,
)
