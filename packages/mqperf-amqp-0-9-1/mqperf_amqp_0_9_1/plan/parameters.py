"""Parameters of a load of AMQP 0-9-1 in a plan."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from mqperf.plan import Frozen, Misplaced
from mqperf.plan.file.attached import pin_of
from mqperf.plan.load.generator import NO_OPTIONS, Generator
from mqperf.plan.topologies import QUEUES
from mqperf_amqp_0_9_1.plan.rejecting import LIMITED, Rejecting
from mqperf_amqp_0_9_1.plan.test_case import TEST_CASE
from mqperf_numbered.plan.mixes import mean_bytes, mix_of
from mqperf_numbered.plan.paced import (
    USUAL_BYTES,
    Confirms,
    Delivery,
    Paced,
    Prefetch,
    Size,
    TimeToLive,
)

Name = Annotated[str, Field(min_length=1, max_length=100)]
Acks = Annotated[
    Literal["auto", "each", "multiple"],
    Field(
        description="Whether servers acknowledge: the broker does not wait for it (auto), each"
        " message by itself, or all that arrived at once together (multiple)."
    ),
]


def _length(values: dict[str, Any]) -> int:
    """Return the length of the plan's body, in the plan or a file; of a mix, the mean length."""
    payload, pin = values.get("payload"), pin_of(values.get("payload_file") or "")
    if pin is not None:
        return pin.size
    if mix := values.get("payload_mix"):
        return mean_bytes(mix_of(mix))
    return USUAL_BYTES if payload is None else len(payload.encode())


def _read(name: str) -> str:
    if pin_of(name) is None:
        raise ValueError("the file was not read: files go with a plan that is in a file itself")
    return name


def _checked(mix: str) -> str:
    mix_of(mix)
    return mix


BODIES = ("payload", "payload_file", "payload_mix")
"""Parameters of which a load has at most one, which determines the length of its bodies."""


class Body(Frozen):
    """Parameters of the body of messages: text of the plan, a file, or random bytes."""

    payload: str | None = Field(
        None, description="The body of every message, word for word; without it, random bytes."
    )
    payload_file: Annotated[str, AfterValidator(_read)] | None = Field(
        None,
        description="A file whose bytes are the body of every message, 10 MB at most; in"
        " the plan's folder or below. Tables have its name, its size, and the first 16 digits"
        " of its SHA-256.",
    )
    payload_mix: Annotated[str, Field(max_length=300), AfterValidator(_checked)] | None = Field(
        None,
        title="mix of payloads",
        description="Lengths of bodies, of random bytes, with the share of messages that have each:"
        " ``90 % of 256 + 10 % of 65536``. The number of a message decides which it has.",
    )
    payload_bytes: Annotated[
        Size,
        Field(
            default_factory=_length,
            description="Length of every body; 256, or that of ``payload`` or ``payload_file``, or"
            " the mean of ``payload_mix``, which come first.",
        ),
    ]

    @model_validator(mode="before")
    @classmethod
    def _length_of_payload(cls, given: object) -> object:
        if isinstance(given, dict) and any(given.get(name) is not None for name in BODIES):
            return {name: value for name, value in given.items() if name != "payload_bytes"}
        return given

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        bodies = [name for name in BODIES if getattr(self, name) is not None]
        if len(bodies) > 1:
            raise Misplaced((bodies[1],), f"{bodies[0]} and {bodies[1]} are two bodies: keep one")
        return self


class Parameters(Paced, Body, Rejecting):
    """Parameters of the load: each is a column of tables, and may be a list."""

    exchange_type: Literal["direct", "topic", "fanout", "headers"] = Field(
        "direct",
        title="exchange type",
        description="Type of the exchange to which messages are published.",
    )
    exchange: Name | None = Field(
        None, description="Name of the exchange; without it, one of the run's own."
    )
    routing_key: Name | None = Field(
        None,
        title="routing key",
        description="Routing key; with several threads, the prefix of each thread's key.",
    )
    copies: int = Field(
        1,
        ge=1,
        le=1_000,
        strict=True,
        title="copies of a message",
        description="Queues that get each message.",
    )
    channels: int = Field(
        1,
        ge=1,
        le=2_000,
        strict=True,
        title="channels of a connection",
        description="Threads that share a connection, each with a channel of its own.",
    )
    acks: Acks = "auto"
    prefetch: Prefetch = 1_000
    confirms: Confirms = 0
    delivery: Delivery = "transient"
    unroutable: Literal["dropped", "returned"] = Field(
        "dropped",
        description="What happens to messages that no queue takes; a returned one is an error.",
    )
    ttl_ms: TimeToLive = None
    urgent_share: float | None = Field(
        None,
        gt=0,
        lt=1,
        title="share of urgent messages",
        description="The share of messages with the higher of two priorities: in a queue they"
        " overtake the others. Its number decides which one has it. Without it, messages have no"
        " priority.",
    )

    @model_validator(mode="after")
    def _can_reject(self) -> Self:
        if self.reject_share is not None and self.acks == "auto":
            text = "consumers that reject acknowledge, too: say acks: multiple, or acks: each"
            raise Misplaced(("reject_share",), text)
        if self.dead_letters is not None and self.ttl_ms is not None:
            text = "what expires would be a dead letter, too: leave out ttl_ms"
            raise Misplaced(("dead_letters",), text)
        return self


def incompatible_queues(kind: str, values: Mapping[str, object]) -> str | None:
    """Return why a load with such parameters cannot use a kind of queue; None if it can."""
    if QUEUES[kind].declared:
        return NO_OPTIONS
    if values.get("delivery_limit") is not None and kind not in LIMITED:
        return "they have no delivery limit: leave out delivery_limit, or plan quorum queues"
    return _incompatible_with_log(values) if QUEUES[kind].log else None


def _incompatible_with_log(values: Mapping[str, object]) -> str | None:
    """Return why a load cannot use queues that keep consumed messages; None if it can."""
    if values.get("acks", Parameters.model_fields["acks"].default) == "auto":
        return "its consumers must acknowledge: say acks: multiple, or acks: each"
    if values.get("ttl_ms") is not None:
        return "its messages do not expire one by one: leave out ttl_ms"
    if values.get("reject_share") is not None:
        return "its messages are never delivered again: leave out reject_share"
    if values.get("urgent_share") is not None:
        return "its messages have no priorities: leave out urgent_share"
    return None


of_case = Parameters.of_case

GENERATOR = Generator(
    name="amqp-0-9-1",
    title="AMQP 0-9-1 Stressor",
    protocol="AMQP 0-9-1",
    link="https://www.rabbitmq.com/amqp-0-9-1-protocol",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    copies=lambda case: of_case(case).copies,
    encrypts=True,
    ends_early=True,
    incompatible_queues=incompatible_queues,
)
