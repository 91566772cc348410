"""The network between two roles for a whole run, as a plan asks for it."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Literal

from pydantic import Field

from mqperf.columns import LINK
from mqperf.plan.values import Axis, Frozen

Role = Literal["client", "server", "broker"]
Between = tuple[Role, Role]
Delay = Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Bandwidth = Annotated[int, Field(ge=1_000, le=10**12, strict=True)]


class LinkPoint(Frozen):
    """A link of one case: every packet between the two roles, in either direction, meets it.

    ``delay_s`` is each way, ``jitter_s`` the standard deviation of that, ``loss_share`` the share
    of packets that vanish; without ``bandwidth_bits_s`` it is as fast as it can be.
    """

    between: Between = ("client", "broker")
    delay_s: Delay = 0.0
    jitter_s: Delay = 0.0
    loss_share: Share = 0.0
    bandwidth_bits_s: Bandwidth | None = None

    @property
    def quantities(self) -> dict[str, float | None]:
        """What the plan asks of it, by the name of the column."""
        return {column.name: getattr(self, column.name) for column in LINK}


class LinkPlan(Frozen):
    """The link of every case; each key but ``between`` has one value, or a list to be swept."""

    between: Between = ("client", "broker")
    delay_s: Axis[Delay] = (0.0,)
    jitter_s: Axis[Delay] = (0.0,)
    loss_share: Axis[Share] = (0.0,)
    bandwidth_bits_s: Axis[Bandwidth | None] = (None,)

    def points(self) -> Iterator[LinkPoint]:
        """The link of every case, delays varying fastest."""
        names = [column.name for column in reversed(LINK)]
        for values in product(*(getattr(self, name) for name in names)):
            yield LinkPoint(between=self.between, **dict(zip(names, values, strict=True)))
