"""Where messages go that were rejected too often: how queues are declared for it."""

from typing import Literal

from mqperf_amqp_0_9_1.onhost.codec import Table, Value
from mqperf_numbered.onhost.broker import Refused

Strategy = Literal["at-most-once", "at-least-once"]

STREAM = "dead_lettered"
"""Where servers record dead letters, which they record as received as well."""


AT_LEAST_ONCE_BEGAN = (3, 10)
"""The first RabbitMQ with that strategy; earlier ones take its name, and pass on at most once."""


def check(strategy: Strategy | None, version: tuple[int, ...]) -> None:
    """Raise ``Refused`` for what a RabbitMQ of this version, or none if it is (), does not have."""
    if strategy == "at-least-once" and () < version < AT_LEAST_ONCE_BEGAN:
        told = ".".join(map(str, version))
        raise Refused(
            f"RabbitMQ {told} passes dead letters on at most once, at least once came with 3.10:"
            " plan dead_letters: at-most-once, or install a newer RabbitMQ"
        )


def dead_letter_queue(queue: str) -> str:
    """Where the dead letters of a queue go, and those of no other."""
    return f"{queue}.dead"


def arguments(queue: str, limit: int | None, strategy: Strategy | None) -> Table:
    """Beyond its kind: how often a queue delivers a message again, and where it goes then."""
    declared: dict[str, Value] = {}
    if limit is not None:
        declared["x-delivery-limit"] = limit
    if strategy is not None:
        declared["x-dead-letter-exchange"] = ""
        declared["x-dead-letter-routing-key"] = dead_letter_queue(queue)
        declared["x-dead-letter-strategy"] = strategy
    if strategy == "at-least-once":
        declared["x-overflow"] = "reject-publish"  # RabbitMQ has the strategy with no other
    return declared
