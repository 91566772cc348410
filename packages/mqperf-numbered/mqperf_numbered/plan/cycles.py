"""The notation of a rate in cycles in plans, and the question that its runs ask."""

import re
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, Field

from mqperf.plan.questions import Question

Steps = tuple[tuple[float, int], ...]
"""The rate of each step, in messages a second of all threads, and its whole seconds."""

STEP = re.compile(r"([1-9]\d{0,4}) s at (\d{1,8}(?:\.\d+)?)")

MOST_MSG_S = 10_000_000


def steps_of(text: str) -> Steps:
    """Parse the steps of a cycle; raises ``ValueError`` if the text is malformed."""
    matches = [STEP.fullmatch(part.strip()) for part in text.split("then")]
    steps = tuple((float(match[2]), int(match[1])) for match in matches if match)
    if len(steps) < max(len(matches), 2) or not all(0 < rate <= MOST_MSG_S for rate, _ in steps):
        raise ValueError(
            "it is two steps or more, each whole seconds and a rate above 0, such as"
            f" '10 s at 200 then 5 s at 2000': got {text!r}"
        )
    for (rate, _), (next_rate, _) in pairwise((*steps, steps[0])):
        if rate == next_rate:
            raise ValueError(f"two steps one after the other are at {rate:g}: make them one")
    return steps


def _checked(text: str) -> str:
    steps_of(text)
    return text


Cycle = Annotated[
    Annotated[str, Field(max_length=1_000), AfterValidator(_checked)] | None,
    Field(
        title="cycle of the rate",
        description="Steps of the rate that repeat, in place of ``rate_msg_s``: ``10 s at 200 then"
        " 5 s at 2000`` is 200 messages a second over all threads for 10 s, 2,000 for 5 s, and so"
        " on to the end of the load. The first begins with the load.",
    ),
]

QUESTION = Question(
    "cycles", "whether the backlog that a peak of the rate leaves is gone before the next one"
)
