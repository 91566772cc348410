"""What disturbs a system during the window, as a plan says it."""

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
"""What the link of a run is called where nodes have labels."""


Place = Annotated[str, Field(min_length=1, max_length=100)]
"""The label of a node, or the name of a host."""

Value = Annotated[
    Scalar | Annotated[tuple[Scalar, ...], BeforeValidator(as_tuple), Field(max_length=100)],
    WrapValidator(simple),
]
"""A parameter's value, of which only the action knows more."""

PARAMETERS = 20
"""Of an action, at most."""


class ActionPlan(Frozen, extra="allow"):
    """Something done at its time in the measured window, and undone.

    It is done to a node, to the link, or on a host.  What it does not know are parameters of the
    action.
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
        """When it is undone at the latest, in seconds since the start of the window."""
        return self.at_s + self.within_s + self.for_s

    @property
    def within_s(self) -> float:
        """How much later than ``at_s`` it may begin, by a parameter of that name: else not."""
        within = self.parameters.get("within_s")
        return within if isinstance(within, int | float) else 0.0

    @property
    def target(self) -> str:
        """What it is done to: the label of a node, the link, or the name of a host."""
        return self.node or self.host or THE_LINK

    @property
    def where(self) -> str:
        """Which of the three keys says what it is done to: ``node``, ``link`` or ``host``."""
        return "node" if self.node is not None else "host" if self.host is not None else "link"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the action that the plan says."""
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
    def _with_one_target(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Only the one of the three: what ids of cases are made of does not change."""
        left_out = {"node", "link", "host"} - {self.where}
        return {name: value for name, value in written(self).items() if name not in left_out}


def _without_overlap(actions: tuple[ActionPlan, ...]) -> tuple[ActionPlan, ...]:
    """A node, or the link, is under one action at a time: both could not be told apart."""
    in_time = sorted(enumerate(actions), key=lambda placed: placed[1].at_s)
    for (_, first), (place, second) in combinations(in_time, 2):
        if first.target == second.target and second.at_s < first.end_s:
            same = THE_LINK if first.link else f"the same {first.where}"
            raise Misplaced(
                (place, "at_s"),
                f"{second.do} at {second.at_s:g} s begins before {first.do} of {same} has ended,"
                f" at {first.end_s:g} s: move one of them",
            )
    return actions


Actions = Annotated[tuple[ActionPlan, ...], Field(max_length=100), AfterValidator(_without_overlap)]
