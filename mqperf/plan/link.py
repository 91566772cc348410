"""The network between two roles for a whole run, as a plan asks for it."""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mqperf.plan.columns import LINK
from mqperf.plan.values import Axis, Frozen

Role = Literal["client", "server", "broker"]


def _two(between: tuple[Role, Role]) -> tuple[Role, Role]:
    """A link joins what is apart: hosts of one role are at no two ends."""
    if between[0] == between[1]:
        raise ValueError(f"{between[0]} is named twice: name two different roles")
    return between


Between = Annotated[tuple[Role, Role], AfterValidator(_two)]
Delay = Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Bandwidth = Annotated[int, Field(ge=1_000, le=10**12, strict=True)]

DELAY_OFF_S, DELAY_OFF = 1e-3, 0.02
JITTER_OFF = 0.2
LOSS_OFF = 0.01
BANDWIDTH_OFF = 0.05


STANDARD_ERRORS = 4
"""Chance takes a share of losses farther off than so many in one link of 16,000."""


def tolerances(asked: Mapping[str, float | None]) -> dict[str, float]:
    """By how much each quantity of a link may be measured to differ from what was asked for.

    The mean of a delay that varies is known the less the more it does.
    """
    delay, jitter, loss, bandwidth = (asked.get(column.name) or 0.0 for column in LINK)
    return {
        "delay_s": max(DELAY_OFF_S, DELAY_OFF * delay, jitter / 4),
        "jitter_s": max(DELAY_OFF_S, JITTER_OFF * jitter),
        "loss_share": LOSS_OFF + DELAY_OFF * loss,
        "bandwidth_bits_s": BANDWIDTH_OFF * bandwidth,
    }


def statistically_known(loss_share: float, packets: float) -> bool:
    """Whether so many packets tell a share of losses as well as it is judged."""
    error = math.sqrt(loss_share * (1 - loss_share) / packets)
    return STANDARD_ERRORS * error <= tolerances({"loss_share": loss_share})["loss_share"]


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
