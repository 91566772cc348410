"""Conditions: named circumstances in which every point of a plan is measured, one after another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from mqperf.plan.actions import ActionPlan, Actions
from mqperf.plan.background import BackgroundLoad
from mqperf.plan.link import LinkPoint
from mqperf.plan.values import Frozen

Background = Annotated[tuple[BackgroundLoad, ...], Field(max_length=10)]
ConditionName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 .,%+/-]*$", max_length=60)]


class Condition(Frozen):
    """Keys that a condition overrides; for the others the values of the plan apply.

    ``published_factor`` is the published ratio of its latency to that of the first condition, shown
    beside the measured ratio.
    """

    link: LinkPoint | None = None
    background: Background | None = None
    actions: Actions | None = None
    published_factor: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = None


def _to_compare(conditions: Mapping[str, Condition]) -> Mapping[str, Condition]:
    if len(conditions) == 1:
        raise ValueError("one condition is nothing to compare: name another, or none")
    first = next(iter(conditions.values()), None)
    if first is not None and first.published_factor not in {None, 1.0}:
        raise ValueError(
            "the first condition is what the others are compared with: its published_factor is 1"
        )
    return conditions


Conditions = Annotated[
    Mapping[ConditionName, Condition], Field(max_length=50), AfterValidator(_to_compare)
]
"""Conditions by name; the others are compared with the first."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Links, background and actions of all points under one condition; ``name`` None without."""

    name: str | None
    links: tuple[LinkPoint | None, ...]
    background: tuple[BackgroundLoad, ...]
    actions: tuple[ActionPlan, ...]

    def under(self, name: str, condition: Condition) -> "Surroundings":
        """Return the surroundings with the condition's overrides."""
        link, background, actions = condition.link, condition.background, condition.actions
        return Surroundings(
            name,
            self.links if link is None else (link,),
            self.background if background is None else background,
            self.actions if actions is None else actions,
        )
