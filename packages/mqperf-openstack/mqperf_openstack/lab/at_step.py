"""Actions that begin with a step of a creation: a failure at a point of its workflow.

Each is an action of another package or of mqperf: it is armed at its instant, and done when the
load next begins the step.
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


def _of_a_chain(step: str) -> str:
    """A step of a chain that ships; raises ``ValueError`` for another one."""
    known = [step.step for name in names() for step in find(name).steps]
    if step not in known:
        raise ValueError(unknown("step", step, known))
    return step


class AtStep(Frozen):
    """Which step it is, and how long it may take until one begins."""

    step: Annotated[str, AfterValidator(_of_a_chain)] = Field(
        description="The step of a creation with which it begins, by its name."
    )
    within_s: float = Field(
        gt=0,
        le=600,
        allow_inf_nan=False,
        description="So many seconds after ``at_s`` the run fails if none has begun it.",
    )


def at_step(name: str, title: str, on: Where, *, renews: bool = False) -> Action:
    """The action of that name, begun with a step."""

    def inner() -> Action:
        if name not in ACTIONS:
            raise SystemFault(f"{name}{AT_STEP}: {unknown('action', name, list(ACTIONS))}")
        return ACTIONS[name]

    @contextmanager
    def applied(target: Target) -> Iterator[ActionFacts]:
        begun = _awaited(target, f"{name}{AT_STEP}")
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


def _awaited(target: Target, name: str) -> float:
    """The instant at which the step next begins; raises ``SystemFault`` when none does in time."""
    asked, since = AtStep.model_validate(target.parameters.model_dump()), time.time()
    while (begun := target.sign(sign_of(asked.step), since)) is None:
        if time.time() > since + asked.within_s:
            raise SystemFault(
                f"{name} of {target.label}: no creation began {asked.step} within"
                f" {asked.within_s:g} s: raise within_s, or let more creations run at a time"
            )
        time.sleep(POLL_S)
    return begun


FREEZE = at_step("freeze", "stopped (SIGSTOP) and continued (SIGCONT)", "node")
KILL = at_step("kill", "killed (SIGKILL) and started again", "node", renews=True)
STOP = at_step("stop", "asked to end (SIGTERM) and started again", "node", renews=True)
DISCONNECT = at_step("disconnect", "without carrier", "link")
BLACK_HOLE = at_step("black-hole", "swallowing every packet", "link")
