"""The action ``hog``: cores of a host are kept busy for a while, by programs that end with it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pydantic import Field

from mqperf.base.errors import SystemFault
from mqperf.lab.actions import Action, ActionFacts, Target
from mqperf.plan import Frozen

BUSY = ("/bin/sh", "-c", "while :; do :; done")
"""A command that keeps one core busy, on any host."""

GRACE_S = 1.0
"""Time for a program to end after SIGTERM, in seconds."""


class Parameters(Frozen):
    """The action's parameters in a plan."""

    cores: int = Field(1, ge=1, le=1024, description="Cores that are kept busy.")


def check(target: Target) -> None:
    """Raise ``SystemFault`` for a node whose host is unknown."""
    if target.host is None:
        raise SystemFault(
            f"hog: it is not known on which host {target.label} runs: say host: instead"
        )


@contextmanager
def applied(target: Target) -> Iterator[ActionFacts]:
    """Start the programs, and stop them in any case; the outcome has how many ran to the end."""
    host, parameters = target.host, target.parameters
    if host is None or not isinstance(parameters, Parameters):
        raise TypeError(f"hog cannot be done to {target!r}")
    outcome: ActionFacts = {}
    with host.scratch("hog") as folder, ExitStack() as stack:
        started = []
        for number in range(1, parameters.cores + 1):
            label, log = f"hog-{number}", folder / f"{number}.log"
            process = host.start(label, BUSY, env={"PATH": host.path}, log=log)
            stack.callback(process.stop, GRACE_S)
            started.append(process)
        try:
            yield outcome
        finally:
            outcome["busy"] = sum(process.alive for process in started)


ACTION = Action(
    "hog",
    "where cores are kept busy",
    check,
    applied,
    on=("node", "host"),
    parameters=Parameters,
)
