"""Actions of a plan, which disturb a system during the measured window."""

from itertools import combinations
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    WrapValidator,
    model_serializer,
    model_validator,
)

from mqperf.plan.values import Frozen, Misplaced, Scalar, as_tuple, check_parameters, simple

THE_LINK = "the link"
"""Name of the link as the target of an action, in place of a node's label."""


Place = Annotated[str, Field(min_length=1, max_length=100)]
"""The label of a node, or the name of a host."""

Value = Annotated[
    Scalar | Annotated[tuple[Scalar, ...], BeforeValidator(as_tuple), Field(max_length=100)],
    WrapValidator(simple),
]
"""The value of a parameter, which only the action itself checks further."""

PARAMETERS = 20
"""Most parameters of an action."""


class ActionPlan(Frozen, extra="allow"):
    """Something done at a given time in the measured window, and then undone.

    It is done to a node, to the link, or on a host.  All further keys are parameters of the action.
    """

    __pydantic_extra__: dict[str, Value] = Field(init=False)

    do: str = Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=50)
    node: Place | None = None
    link: bool = Field(default=False, strict=True)
    host: Place | None = None
    at_s: float = Field(ge=0, le=604_800, allow_inf_nan=False)
    for_s: float = Field(gt=0, le=604_800, allow_inf_nan=False)

    @property
    def end_s(self) -> float:
        """The latest time at which it is undone, in seconds since the start of the window."""
        return self.at_s + self.within_s + self.for_s

    @property
    def within_s(self) -> float:
        """How many seconds after ``at_s`` it may begin: its parameter ``within_s``, else 0."""
        within = self.parameters.get("within_s")
        return within if isinstance(within, int | float) else 0.0

    @property
    def target(self) -> str:
        """The target: the label of a node, the link, or the name of a host."""
        return self.node or self.host or THE_LINK

    @property
    def where(self) -> str:
        """The key that names the target: ``node``, ``link`` or ``host``."""
        return "node" if self.node is not None else "host" if self.host is not None else "link"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the action that the plan sets."""
        return dict(self.__pydantic_extra__)

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if [self.node is not None, self.link, self.host is not None].count(True) != 1:
            raise ValueError(
                f"{self.do} is done to a node, to the link, or on a host:"
                " say one of node:, link: true and host:"
            )
        check_parameters(self.parameters, owner="an action")
        if len(self.parameters) > PARAMETERS:
            raise ValueError(f"an action has at most {PARAMETERS} parameters")
        return self

    @model_serializer(mode="wrap")
    def _with_one_target(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Serialise only the key of the target, so that ids of earlier cases do not change."""
        omitted = {"node", "link", "host"} - {self.where}
        return {name: value for name, value in serialize(self).items() if name not in omitted}


def _without_overlap(actions: tuple[ActionPlan, ...]) -> tuple[ActionPlan, ...]:
    """Reject overlapping actions on one target: their effects could not be told apart."""
    by_time = sorted(enumerate(actions), key=lambda indexed: indexed[1].at_s)
    for (_, first), (index, second) in combinations(by_time, 2):
        if first.target == second.target and second.at_s < first.end_s:
            same = THE_LINK if first.link else f"the same {first.where}"
            raise Misplaced(
                (index, "at_s"),
                f"{second.do} at {second.at_s:g} s begins before {first.do} of {same} has ended,"
                f" at {first.end_s:g} s: move one of them",
            )
    return actions


Actions = Annotated[tuple[ActionPlan, ...], Field(max_length=100), AfterValidator(_without_overlap)]
