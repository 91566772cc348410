"""What a plan may say of every load whose messages carry a stamp."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from mqperf.load.numbered.inside.stamps import SIZE
from mqperf.plan import Frozen
from mqperf.plan_file.attached import MOST_BYTES

USUAL_BYTES = 256


def _with_room(size: int) -> int:
    if size < SIZE:
        raise ValueError(
            f"every message carries a stamp of {SIZE} bytes (its number, when it was due, when it"
            f" was sent): give at least {SIZE}, got {size}"
        )
    return size


Size = Annotated[int, Field(le=MOST_BYTES, strict=True), AfterValidator(_with_room)]
"""Length of a body that has room for its stamp."""

Delivery = Annotated[
    Literal["transient", "persistent"],
    Field(description="Whether the broker writes messages to disk."),
]
TimeToLive = Annotated[
    int | None,
    Field(ge=0, le=86_400_000, strict=True, description="After so long messages expire."),
]


class Paced(Frozen):
    """When messages are sent: at a rate that stays or changes evenly, or as fast as they can."""

    rate_msg_s: Annotated[
        float | None,
        Field(
            gt=0,
            le=10_000_000,
            description="Messages a second over all threads; without it, as fast as they can.",
        ),
    ] = None
    ramp_to_msg_s: Annotated[
        float | None,
        Field(
            gt=0,
            le=10_000_000,
            description="The rate at the end of the load: it changes evenly, from ``rate_msg_s`` at"
            " its start.",
        ),
    ] = None

    @model_validator(mode="after")
    def _ramp_from_a_rate(self) -> Self:
        if self.ramp_to_msg_s is not None and self.rate_msg_s is None:
            raise ValueError("ramp_to_msg_s needs the rate at the start: give rate_msg_s, too")
        return self

    def of_thread(self, threads: int) -> dict[str, float | None]:
        """What one of so many threads is ordered: ``rate``, and ``ramp_to`` which it changes to."""
        rates = {"rate": self.rate_msg_s, "ramp_to": self.ramp_to_msg_s}
        return {name: None if rate is None else rate / threads for name, rate in rates.items()}

    def offered_msg_s(self, load: tuple[float, float], window: tuple[float, float]) -> float | None:
        """The mean rate of the window: that of its middle, as rates change evenly if at all.

        ``load`` and ``window`` are beginning and end of each, in seconds of one clock.
        """
        if self.rate_msg_s is None or self.ramp_to_msg_s is None:
            return self.rate_msg_s
        passed = (sum(window) / 2 - load[0]) / (load[1] - load[0])
        return self.rate_msg_s + passed * (self.ramp_to_msg_s - self.rate_msg_s)
