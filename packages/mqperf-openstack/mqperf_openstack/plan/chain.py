"""A chain: the CALLs, CASTs and fan-outs between services that make one creation, in order.

Services belong to the control plane, which runs in client processes, or to the agents, which run in
server processes.  The chain is at one of both sides at any time, and any service of that side in
the same process may continue it.  A CAST moves it to the receiver; a CALL does so where the next
step is sent from there, else it comes back with the reply; a fan-out leaves it where it is.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import Field, model_validator

from mqperf.plan import Frozen
from mqperf.plan.file.attached import MOST_BYTES

CHAINS = Path(__file__).with_name("chains")

Side = Literal["control", "agents"]
Service = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=50)]
Bytes = Annotated[int, Field(ge=1, le=MOST_BYTES)]


class Step(Frozen, populate_by_name=True):
    """A message to a service, or to all its processes, with its reply if there is one."""

    step: str = Field(min_length=1, max_length=100)
    kind: Literal["call", "cast", "fan-out"]
    sender: Service = Field(alias="from")
    receiver: Service = Field(alias="to")
    request_bytes: Bytes
    reply_bytes: Bytes | None = None
    processing_ms: float = Field(0, ge=0, le=60_000)
    source: str = ""

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (self.kind == "call") != (self.reply_bytes is not None):
            raise ValueError(f"{self.step}: a call has reply_bytes, and nothing else has")
        if self.kind == "fan-out" and self.processing_ms:
            raise ValueError(f"{self.step}: nobody waits for a fan-out: it has no processing_ms")
        return self


class Chain(Frozen):
    """The services of both sides, and the steps.

    The chain begins at the control plane, and ends when its last step arrives there.
    """

    title: str
    control: tuple[Service, ...] = Field(min_length=1)
    agents: tuple[Service, ...] = Field(min_length=1)
    steps: tuple[Step, ...] = Field(min_length=2, max_length=1_000)

    def side(self, service: str) -> Side:
        """Return the side on which a service runs."""
        return "control" if service in self.control else "agents"

    def moves(self, number: int) -> bool:
        """Whether the chain continues, or ends, at the receiver of a step, counted from 0."""
        step = self.steps[number]
        if step.kind != "call":
            return step.kind == "cast"
        following = [later for later in self.steps[number + 1 :] if later.kind != "fan-out"]
        return not following or self.side(following[0].sender) != self.side(step.sender)

    def round_trips(self, number: int) -> float:
        """Return how often a creation waits for a step to cross between both sides and back.

        A step that moves the chain crosses once: 0.5.  One within a side, or a fan-out, counts 0.
        """
        step = self.steps[number]
        if step.kind == "fan-out" or self.side(step.sender) == self.side(step.receiver):
            return 0.0
        return 0.5 if self.moves(number) else 1.0

    @property
    def first_at_agents(self) -> int:
        """The number of the first step that an agent handles; its arrival counts as receipt."""
        return next(
            number
            for number, step in enumerate(self.steps)
            if step.kind != "fan-out" and self.side(step.receiver) == "agents"
        )

    def meanwhile(self, number: int) -> list[int]:
        """Return the fan-outs that the receiver of a CALL from the other side sends meanwhile.

        They are sent while the CALL is handled, and directly follow it in ``steps``.
        """
        step, fan_outs = self.steps[number], list[int]()
        if step.kind != "call" or self.side(step.receiver) == self.side(step.sender):
            return fan_outs
        for other, later in enumerate(self.steps[number + 1 :], number + 1):
            if later.kind != "fan-out" or self.side(later.sender) != self.side(step.receiver):
                break
            fan_outs.append(other)
        return fan_outs

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        services = {*self.control, *self.agents}
        for step in self.steps:
            for service in (step.sender, step.receiver):
                if service not in services:
                    raise ValueError(f"{step.step}: {service} is no service of the chain")
        at: Side = "control"
        done: set[int] = set()
        for number, step in enumerate(self.steps):
            if number not in done and self.side(step.sender) != at:
                raise ValueError(f"{step.step}: the chain is not at {step.sender}")
            done.update(self.meanwhile(number))
            at = self.side(step.receiver) if self.moves(number) else at
        if at != "control" or self.steps[-1].kind == "fan-out":
            raise ValueError("a chain ends with a call or cast to the control plane")
        return self


def names() -> Sequence[str]:
    """Return the names of the shipped chains."""
    return sorted(file.stem for file in CHAINS.glob("*.yaml"))


@cache
def find(name: str) -> Chain:
    """Return the chain of a name, which is one of ``names``."""
    content: Mapping[str, object] = yaml.safe_load((CHAINS / f"{name}.yaml").read_text("utf-8"))
    return Chain.model_validate(content)
