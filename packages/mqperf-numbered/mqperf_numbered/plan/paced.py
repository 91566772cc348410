"""Plan parameters common to all loads whose messages carry a stamp."""

from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from mqperf.plan import Case, Misplaced, offered_msg_s
from mqperf.plan.columns import BYTES, MILLISECONDS, SECONDS
from mqperf.plan.file.attached import MOST_BYTES
from mqperf.plan.load.ramped import MessageCount, Ramped, Rate
from mqperf.plan.pace import COUNT, CYCLE, LATE, RAMP, RATE, STEPS, STEPS_BY, THREAD_RATE
from mqperf_numbered.onhost.orders import Pace
from mqperf_numbered.onhost.stamp_layout import SIZE
from mqperf_numbered.plan.cycles import Cycle, steps_of

USUAL_BYTES = 256

RATES = (RATE, THREAD_RATE, CYCLE)
"""Parameters of which a load has at most one."""


def with_room(size: int) -> int:
    """Return the length of a body; raises ``ValueError`` if it has no room for a stamp."""
    if size < SIZE:
        raise ValueError(
            f"every message carries a stamp of {SIZE} bytes (its number, when it was due,"
            f" when it was sent): give at least {SIZE}, got {size}"
        )
    return size


Size = Annotated[int, Field(le=MOST_BYTES, strict=True), AfterValidator(with_room), BYTES]
"""Length of a body that has room for its stamp."""

RandomBody = Annotated[Size, Field(description="Length of every body, of random bytes.")]

Confirms = Annotated[
    int,
    Field(
        ge=0,
        le=1_000_000,
        strict=True,
        title="unconfirmed messages",
        description="Messages of a thread that may wait for the broker's confirm; with 0, none are"
        " requested.",
    ),
]
Prefetch = Annotated[
    int,
    Field(
        ge=1,
        le=65_535,
        strict=True,
        description="Messages of a queue that may wait for their acknowledgement.",
    ),
]
Delivery = Annotated[
    Literal["transient", "persistent"],
    Field(description="Whether the broker writes messages to disk."),
]
TimeToLive = Annotated[
    int | None,
    Field(
        ge=0,
        le=86_400_000,
        strict=True,
        title="time to live",
        description="Messages expire after this time; without it, they do not.",
    ),
    MILLISECONDS,
]


class Paced(Ramped):
    """Parameters of when messages are sent, at a rate or as fast as possible, and how many."""

    thread_rate_msg_s: Rate = Field(
        None,
        title="offered rate of a thread",
        description="Messages a second of each thread, in place of ``rate_msg_s``.",
    )
    rate_cycle: Cycle = None
    message_count: MessageCount = None
    consume_after_s: Annotated[int | None, SECONDS] = Field(
        None,
        ge=1,
        le=86_400,
        strict=True,
        title="consumers start after",
        description="Seconds from the start of the load, warm-up included, after which consumers"
        " start; their queues exist before. Without it, they start first.",
    )

    @model_validator(mode="after")
    def _late_within_the_load(self) -> Self:
        if self.consume_after_s is not None and self.message_count is not None:
            text = f"a load by {COUNT} may end before its consumers start: keep one of the two"
            raise Misplaced((LATE,), text)
        return self

    @model_validator(mode="after")
    def _one_pace(self) -> Self:
        rates = [name for name in RATES if getattr(self, name) is not None]
        if len(rates) > 1:
            raise Misplaced((rates[1],), f"{rates[0]} and {rates[1]} are two rates: keep one")
        return self

    def ordered(self, threads: int) -> dict[str, Any]:
        """Return the orders of processes: all parameters, and the ``pace`` of one thread of all."""
        pace = self._pace(threads)
        orders = self.model_dump(mode="json", exclude={*RATES, RAMP, STEPS, STEPS_BY})
        return orders | {"pace": None if pace is None else asdict(pace)}

    def offered_msg_s(self, case: Case, window: tuple[float, float]) -> float | None:
        """Return the mean rate of all threads in the window; None if they have no rate.

        ``window`` is its beginning and end in seconds since the start of the load.
        """
        pace = self._pace(case.threads)
        if pace is None or (pace.ramp_to is None and pace.cycle is None):
            return offered_msg_s(case.parameters, case.threads)
        from mqperf_numbered.onhost.schedule import curve_of  # imports numpy, which is slow

        begin, end = map(curve_of(pace, case.load_s).due, window)
        return case.threads * (end - begin) / (window[1] - window[0])

    def _pace(self, threads: int) -> Pace | None:
        """Return the pace of one of ``threads`` threads."""
        if self.thread_rate_msg_s is not None:
            return Pace(self.thread_rate_msg_s)
        if self.rate_cycle is not None:
            cycle = tuple((rate / threads, lasts) for rate, lasts in steps_of(self.rate_cycle))
            return Pace(cycle[0][0], cycle=cycle)
        if self.rate_msg_s is None:
            return None
        last = None if self.ramp_to_msg_s is None else self.ramp_to_msg_s / threads
        by_ratio = self.ramp_steps_by == "ratio"
        return Pace(self.rate_msg_s / threads, last, self.ramp_steps, by_ratio=by_ratio)
