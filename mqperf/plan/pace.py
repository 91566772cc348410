"""Parameters of generators that the plan itself handles: rates, and the number of messages."""

from collections.abc import Mapping
from typing import Any

RATE = "rate_msg_s"
"""The offered rate of all threads, which a search sets."""

RAMP = "ramp_to_msg_s"
"""The rate at the end of the load."""

STEPS = "ramp_steps"
"""The number of steps in which the rate changes."""

STEPS_BY = "ramp_steps_by"
"""Whether these steps differ by equal differences, or by equal ratios."""

THREAD_RATE = "thread_rate_msg_s"
"""The rate of each thread, in place of ``RATE``."""

CYCLE = "rate_cycle"
"""Rate steps that repeat periodically, in place of these."""

PROFILE = "traffic_file"
"""A profile of recorded traffic with a rate for each second, in place of these."""

OFFERED = (RATE, THREAD_RATE, CYCLE, PROFILE)
"""Parameters any of which sets an offered rate."""

LATE = "consume_after_s"
"""Seconds of the load after which consumers start, where they do not start first."""

COUNT = "message_count"
"""The number of messages after which a load ends."""

PACE = (RATE, RAMP, STEPS, STEPS_BY, THREAD_RATE, CYCLE, LATE, COUNT)
"""Parameters that all generators of one load must share: when messages are sent and consumed."""


def offered_msg_s(parameters: Mapping[str, Any], threads: int) -> float | None:
    """Return the rate of all threads at the start of a load; None where no rate is offered."""
    if (thread_rate := parameters.get(THREAD_RATE)) is not None:
        return float(thread_rate) * threads
    rate = parameters.get(RATE)
    return None if rate is None else float(rate)
