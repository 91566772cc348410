"""The parameters of a plan for loads in the protocols of Artemis: STOMP, OpenWire and Core."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from mqperf.plan.load.generator import NO_OPTIONS, Generator
from mqperf.plan.pace import LATE
from mqperf.plan.topologies import QUEUES
from mqperf_amqp_0_9_1.plan.test_case import TEST_CASE
from mqperf_numbered.plan.paced import (
    USUAL_BYTES,
    Confirms,
    Delivery,
    Paced,
    Prefetch,
    RandomBody,
)

MOST_BYTES = 100_000
"""Largest body: Artemis handles longer ones as large messages, in files and in parts."""


class Parameters(Paced):
    """Each is a column of tables, and may be a list; all protocols have the same."""

    payload_bytes: Annotated[RandomBody, Field(le=MOST_BYTES)] = USUAL_BYTES
    confirms: Confirms = 1_000
    acks: Literal["each", "multiple"] = Field(
        "multiple",
        description="Whether consumers acknowledge each message by itself, or all that arrived at"
        " once together (multiple).",
    )
    prefetch: Prefetch = 1_000
    delivery: Delivery = "transient"


def incompatible_queues(kind: str, values: Mapping[str, object]) -> str | None:
    """Return why a load cannot use a kind of queue; None if it can."""
    if QUEUES[kind].log or QUEUES[kind].declared:
        return NO_OPTIONS
    if values.get(LATE) is not None:
        return f"Artemis removes a queue that nobody consumes: leave out {LATE}, or plan amqp-1.0"
    return None


def _generator(name: str, protocol: str, link: str) -> Generator:
    return Generator(
        name=name,
        title=f"{protocol} Publishers and Consumers",
        protocol=protocol,
        link=link,
        test_cases=(TEST_CASE.name,),
        parameters=Parameters,
        ends_early=True,
        incompatible_queues=incompatible_queues,
    )


of_case = Parameters.of_case

STOMP = _generator("stomp", "STOMP", "https://stomp.github.io/stomp-specification-1.2.html")
OPENWIRE = _generator(
    "openwire", "OpenWire", "https://activemq.apache.org/components/classic/documentation/openwire"
)
CORE = _generator(
    "artemis-core",
    "Core",
    "https://activemq.apache.org/components/artemis/documentation/latest/core.html",
)
