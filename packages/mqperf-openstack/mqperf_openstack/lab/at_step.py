"""Actions that begin with a step of a creation: a failure at a given point of its workflow.

Each wraps an action of another package or of mqperf.  It is armed at its instant, and carried out
when the load next begins the step.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import AfterValidator, Field

from mqperf.base.errors import SystemFault
from mqperf.base.problems import unknown
from mqperf.lab.actions import ACTIONS, Action, ActionFacts, Target
from mqperf.lab.actions.action import Where
from mqperf.plan import Frozen
from mqperf_openstack.plan.chain import find, names
from mqperf_openstack.plan.signs import AT_STEP, sign_of

POLL_S = 0.01


def _known_step(step: str) -> str:
    """Return the name of a step; raise ``ValueError`` if no shipped chain has such a step."""
    known = [other.step for chain in names() for other in find(chain).steps]
    if step not in known:
        raise ValueError(unknown("step", step, known))
    return step


class AtStep(Frozen):
    """The step that triggers the action, and how long to wait for it."""

    step: Annotated[str, AfterValidator(_known_step)] = Field(
        description="The step of a creation that triggers it, by its name."
    )
    within_s: float = Field(
        gt=0,
        le=600,
        allow_inf_nan=False,
        description="The run fails if none has begun it this many seconds after ``at_s``.",
    )


def at_step(name: str, title: str, on: Where, *, renews: bool = False) -> Action:
    """Return a variant of the action of this name that begins with a step."""

    def inner() -> Action:
        if name not in ACTIONS:
            raise SystemFault(f"{name}{AT_STEP}: {unknown('action', name, list(ACTIONS))}")
        return ACTIONS[name]

    @contextmanager
    def applied(target: Target) -> Iterator[ActionFacts]:
        begun = _wait_for_step(target, f"{name}{AT_STEP}")
        with inner().applied(target) as facts:
            yield {**facts, "commanded": begun}

    return Action(
        f"{name}{AT_STEP}",
        f"{title}, when a step of a creation begins",
        lambda target: inner().check(target),
        applied,
        on=(on,),
        parameters=AtStep,
        renews=renews,
        prepared=lambda target: inner().prepared(target),
    )


def _wait_for_step(target: Target, name: str) -> float:
    """Return the instant at which the step next begins; raise ``SystemFault`` at the time limit."""
    trigger, since = AtStep.model_validate(target.parameters.model_dump()), time.time()
    while (begun := target.sign(sign_of(trigger.step), since)) is None:
        if time.time() > since + trigger.within_s:
            raise SystemFault(
                f"{name} of {target.label}: no creation began {trigger.step} within"
                f" {trigger.within_s:g} s: raise within_s, or let more creations run at a time"
            )
        time.sleep(POLL_S)
    return begun


FREEZE = at_step("freeze", "stopped (SIGSTOP) and continued (SIGCONT)", "node")
KILL = at_step("kill", "killed (SIGKILL) and started again", "node", renews=True)
STOP = at_step("stop", "asked to end (SIGTERM) and started again", "node", renews=True)
DISCONNECT = at_step("disconnect", "without carrier", "link")
BLACK_HOLE = at_step("black-hole", "swallowing every packet", "link")
