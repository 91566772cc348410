"""What disturbs a system during the window, as a plan says it."""

from itertools import combinations
from typing import Annotated

from pydantic import AfterValidator, Field

from mqperf.plan.values import Frozen


class ActionPlan(Frozen):
    """Something done to a node of the system, at its time in the measured window, and undone."""

    do: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=50)]
    node: Annotated[str, Field(min_length=1, max_length=100)]
    at_s: Annotated[float, Field(ge=0, le=604_800, allow_inf_nan=False)]
    for_s: Annotated[float, Field(gt=0, le=604_800, allow_inf_nan=False)]

    @property
    def end_s(self) -> float:
        """When it is undone, in seconds since the start of the window."""
        return self.at_s + self.for_s


def _apart(actions: tuple[ActionPlan, ...]) -> tuple[ActionPlan, ...]:
    """One node is under one action at a time: what both do could not be told apart."""
    for first, second in combinations(sorted(actions, key=lambda one: one.at_s), 2):
        if first.node == second.node and second.at_s < first.end_s:
            raise ValueError(
                f"{second.do} at {second.at_s:g} s begins before {first.do} of the same node"
                f" has ended, at {first.end_s:g} s: move one of them"
            )
    return actions


Actions = Annotated[tuple[ActionPlan, ...], Field(max_length=100), AfterValidator(_apart)]
