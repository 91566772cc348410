"""What the plan itself knows of a load's own parameters: its rate, and how many messages it has."""

from collections.abc import Mapping
from typing import Any

RATE = "rate_msg_s"
"""The parameter that a search sets: of generators that keep to an offered rate."""

RAMP = "ramp_to_msg_s"
"""The rate that it changes to by the end of the load."""

STEPS = "ramp_steps"
"""In how many steps it does so."""

STEPS_BY = "ramp_steps_by"
"""Whether these steps differ by equal differences, or by equal ratios."""

THREAD_RATE = "thread_rate_msg_s"
"""The rate of each thread, in place of that of all."""

CYCLE = "rate_cycle"
"""The steps of a rate that come again and again, in place of these."""

PROFILE = "traffic_file"
"""The profile of recorded traffic, in place of these: each second of it has a rate."""

OFFERED = (RATE, THREAD_RATE, CYCLE, PROFILE)
"""Any of which says how much is offered."""

LATE = "consume_after_s"
"""After how many seconds of the load consumers start, where they do not start first."""

COUNT = "message_count"
"""How many messages a load ends after."""

PACE = (RATE, RAMP, STEPS, STEPS_BY, THREAD_RATE, CYCLE, LATE, COUNT)
"""What generators of one load have in common: when messages are sent, and consumed."""


def offered_msg_s(parameters: Mapping[str, Any], threads: int) -> float | None:
    """The rate of all threads at the start of a load; None where they are as fast as they can."""
    if (each := parameters.get(THREAD_RATE)) is not None:
        return float(each) * threads
    rate = parameters.get(RATE)
    return None if rate is None else float(rate)
