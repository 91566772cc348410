"""The network link between two roles for a whole run, as a plan requests it."""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mqperf.plan.columns import LINK
from mqperf.plan.values import Axis, Frozen

Role = Literal["client", "server", "broker"]


def _different(between: tuple[Role, Role]) -> tuple[Role, Role]:
    """Reject a link between hosts of one role: its two ends must be different roles."""
    if between[0] == between[1]:
        raise ValueError(f"{between[0]} is named twice: name two different roles")
    return between


Between = Annotated[tuple[Role, Role], AfterValidator(_different)]
Delay = Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Bandwidth = Annotated[int, Field(ge=1_000, le=10**12, strict=True)]

DELAY_OFF_S, DELAY_OFF = 1e-3, 0.02
JITTER_OFF = 0.2
LOSS_OFF = 0.01
BANDWIDTH_OFF = 0.05


STANDARD_ERRORS = 4
"""A measured loss share is off by more standard errors than this in one link of 16,000."""


def tolerances(requested: Mapping[str, float | None]) -> dict[str, float]:
    """Return how far the measured value of each quantity of a link may be from the requested one.

    The mean of a delay is less certain the larger its jitter.
    """
    delay, jitter, loss, bandwidth = (requested.get(column.name) or 0.0 for column in LINK)
    return {
        "delay_s": max(DELAY_OFF_S, DELAY_OFF * delay, jitter / 4),
        "jitter_s": max(DELAY_OFF_S, JITTER_OFF * jitter),
        "loss_share": LOSS_OFF + DELAY_OFF * loss,
        "bandwidth_bits_s": BANDWIDTH_OFF * bandwidth,
    }


def statistically_known(loss_share: float, packets: float) -> bool:
    """Whether this number of packets determines the loss share within its tolerance."""
    error = math.sqrt(loss_share * (1 - loss_share) / packets)
    return STANDARD_ERRORS * error <= tolerances({"loss_share": loss_share})["loss_share"]


class LinkPoint(Frozen):
    """The link of one case, which all packets between the two roles pass, in either direction.

    ``delay_s`` is the delay each way, ``jitter_s`` its standard deviation, ``loss_share`` the share
    of packets lost; without ``bandwidth_bits_s`` the bandwidth is not limited.
    """

    between: Between = ("client", "broker")
    delay_s: Delay = 0.0
    jitter_s: Delay = 0.0
    loss_share: Share = 0.0
    bandwidth_bits_s: Bandwidth | None = None

    @property
    def quantities(self) -> dict[str, float | None]:
        """The requested quantities, by column."""
        return {column.name: getattr(self, column.name) for column in LINK}


class LinkPlan(Frozen):
    """The links of all cases; each key but ``between`` has one value, or a list to be swept."""

    between: Between = ("client", "broker")
    delay_s: Axis[Delay] = (0.0,)
    jitter_s: Axis[Delay] = (0.0,)
    loss_share: Axis[Share] = (0.0,)
    bandwidth_bits_s: Axis[Bandwidth | None] = (None,)

    def points(self) -> Iterator[LinkPoint]:
        """Yield every combination of values, delays varying fastest."""
        names = [column.name for column in reversed(LINK)]
        for values in product(*(getattr(self, name) for name in names)):
            yield LinkPoint(between=self.between, **dict(zip(names, values, strict=True)))
