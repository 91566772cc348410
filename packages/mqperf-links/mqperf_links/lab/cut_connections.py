"""Cut connections: some connections of clients to a node break, and both ends notice."""

import json
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated, Self

from pydantic import Field, model_validator

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, Restartable
from mqperf.lab.actions.action import Action, ActionFacts, Target
from mqperf.plan import Frozen
from mqperf_links.lab import programs
from mqperf_links.lab.programs import Program

SS = "command -v ss > /dev/null || echo it needs ss: apt-get install iproute2"


class Cut(Frozen):
    """How many connections are cut, by one of both parameters."""

    share: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = Field(
        None, description="Share of the connections at that time; at least one is cut."
    )
    count: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        None, description="Number of connections; all, if there are fewer."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.share is None) == (self.count is None):
            raise ValueError("cut-connections: say how many connections: one of share and count")
        return self


def check(target: Target) -> None:
    """Raise ``SystemFault`` for a node that mqperf did not start, or a host where it is refused."""
    host, _ = _node(target)
    if (why := programs.obstacle(host, SS)) is not None:
        raise SystemFault(f"cut-connections: impossible on {host.name}: {why}")


def prepared(target: Target) -> AbstractContextManager[Program]:
    """Run a program on the node's host that knows the clients' ports and waits for a signal."""
    host, node = _node(target)
    ports = sorted({int(address.rpartition(":")[2]) for address in target.addresses})
    order = {"server": node.process.pid, "ports": ports, **target.parameters.model_dump()}
    fault = f"cut-connections: no connections of {target.label} can be cut"
    return programs.running(host, "cut_connections", [json.dumps(order)], fault)


@contextmanager
def applied(target: Target) -> Iterator[ActionFacts]:
    """Cut connections, and in the end add how many to the facts; raise ``SystemFault`` for none."""
    if not isinstance(program := target.prepared, Program):
        raise TypeError(f"cut-connections cannot be done to {target!r}")
    program.process.signal(signal.SIGUSR1)
    facts: ActionFacts = {}
    yield facts
    answer = program.line(1)
    if not answer.startswith("{"):
        raise SystemFault(f"cut-connections: {target.label}: {answer}")
    facts |= json.loads(answer)
    if not facts["cut"]:
        raise SystemFault(f"cut-connections: no client was connected to {target.label} then")


def _node(target: Target) -> tuple[Host, Restartable]:
    """Return a node's host and process; raise ``SystemFault`` if mqperf did not start the node."""
    if target.host is None or not isinstance(target.service, Restartable):
        raise SystemFault(
            f"cut-connections: {target.label} was not started by mqperf, which cuts only"
            " connections of its own systems; leave the action out, or let mqperf start the system"
        )
    return target.host, target.service


ACTION = Action(
    "cut-connections",
    "without some connections of clients; both ends notice",
    check,
    applied,
    parameters=Cut,
    prepared=prepared,
)
