"""Declarations of queues for dead letters: messages that were rejected too often."""

from typing import Literal

from mqperf_amqp_0_9_1.onhost.codec import Table, Value
from mqperf_numbered.onhost.broker import Refused

Strategy = Literal["at-most-once", "at-least-once"]

STREAM = "dead_lettered"
"""The stream in which servers record dead letters, beside that of received messages."""


AT_LEAST_ONCE_SINCE = (3, 10)
"""The first RabbitMQ with that strategy; earlier ones accept it, but dead-letter at most once."""


def check(strategy: Strategy | None, version: tuple[int, ...]) -> None:
    """Raise ``Refused`` if a RabbitMQ of this version lacks the strategy; () is no RabbitMQ."""
    if strategy == "at-least-once" and () < version < AT_LEAST_ONCE_SINCE:
        release = ".".join(map(str, version))
        raise Refused(
            f"RabbitMQ {release} passes dead letters on at most once, at least once came with 3.10:"
            " plan dead_letters: at-most-once, or install a newer RabbitMQ"
        )


def dead_letter_queue(queue: str) -> str:
    """Return the name of the queue for the dead letters of a queue alone."""
    return f"{queue}.dead"


def arguments(queue: str, limit: int | None, strategy: Strategy | None) -> Table:
    """Return a queue's arguments for its delivery limit and dead letters."""
    declared: dict[str, Value] = {}
    if limit is not None:
        declared["x-delivery-limit"] = limit
    if strategy is not None:
        declared["x-dead-letter-exchange"] = ""
        declared["x-dead-letter-routing-key"] = dead_letter_queue(queue)
        declared["x-dead-letter-strategy"] = strategy
    if strategy == "at-least-once":
        declared["x-overflow"] = "reject-publish"  # required by RabbitMQ for the strategy
    return declared
