"""Messages of two priorities: how queues are declared for them, and which message has which."""

from collections.abc import Sequence

from mqperf_amqp_0_9_1.onhost.codec import Table
from mqperf_numbered.onhost.broker import Refused

URGENT, USUAL = "urgent", "usual"
"""Where servers record messages by their priority, which they record as received as well."""

HIGH, LOW = 9, 0
"""The priorities: quorum queues have two levels, and the upper one begins at 5."""

QUORUM = {"x-queue-type": "quorum"}

OF_QUORUM_BEGAN = (4, 0)
"""The first RabbitMQ whose quorum queues have priorities; those of earlier ones leave it out."""


def check(share: float | None, queue: Table, version: tuple[int, ...]) -> None:
    """Raise ``Refused`` where queues of such a RabbitMQ have none; () is no RabbitMQ."""
    if share is not None and QUORUM.items() <= queue.items() and () < version < OF_QUORUM_BEGAN:
        told = ".".join(map(str, version))
        raise Refused(
            f"quorum queues of RabbitMQ {told} have no priorities, they came with 4.0:"
            " leave out urgent_share, or plan another kind of queue or version"
        )


def arguments(share: float | None, queue: Table) -> Table:
    """Beyond its kind: classic queues have as many levels as they are declared with."""
    return {} if share is None or QUORUM.items() <= queue.items() else {"x-max-priority": HIGH}


def with_priorities(
    mix: Sequence[tuple[float, int]], share: float | None, usual_bytes: int
) -> Sequence[tuple[float, int, int | None]]:
    """The forms of messages: their share, length and priority, every urgent one before the others.

    Without a mix all have the usual length; without a share of urgent ones none has a priority.
    """
    lengths = [*mix] or [(1.0, usual_bytes)]
    if share is None:
        return [(part, length, None) for part, length in lengths]
    levels = ((share, HIGH), (1 - share, LOW))
    return [
        (of_level * part, length, level) for of_level, level in levels for part, length in lengths
    ]
