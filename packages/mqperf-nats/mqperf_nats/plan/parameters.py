"""Parameters of a load of NATS in a plan."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from mqperf.plan.load.generator import Generator
from mqperf.plan.pace import LATE
from mqperf_amqp_0_9_1.plan.test_case import TEST_CASE
from mqperf_nats.plan.queues import CORE, STREAMS
from mqperf_numbered.plan.paced import USUAL_BYTES, Confirms, Paced, Prefetch, RandomBody


class Parameters(Paced):
    """Parameters, each a column of tables, and maybe a list; all but the first are JetStream's."""

    payload_bytes: RandomBody = USUAL_BYTES
    confirms: Confirms = 1_000
    acks: Literal["each", "multiple"] = Field(
        "each",
        description="Whether consumers of JetStream acknowledge each message by itself, or all that"
        " arrived at once together (multiple).",
    )
    prefetch: Prefetch = 1_000


def incompatible_queues(kind: str, values: Mapping[str, object]) -> str | None:
    """Return why a load with such parameters cannot use a kind of queue; None if it can."""
    if kind not in {CORE.name, *STREAMS}:
        return f"it publishes to NATS only: plan queues: [{CORE.name}]"
    if kind == CORE.name and values.get(LATE) is not None:
        return f"core NATS keeps no message for later: leave out {LATE}, or plan streams"
    return None


of_case = Parameters.of_case

GENERATOR = Generator(
    name="nats",
    title="NATS Publishers and Subscribers",
    link="https://docs.nats.io",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    ends_early=True,
    incompatible_queues=incompatible_queues,
)
