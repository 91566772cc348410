"""Messages of two priorities: the declarations of their queues, and the priority of each."""

from collections.abc import Sequence

from mqperf_amqp_0_9_1.onhost.codec import Table
from mqperf_numbered.onhost.broker import Refused

URGENT, USUAL = "urgent", "usual"
"""The streams in which servers record messages by priority, beside that of received messages."""

HIGH, LOW = 9, 0
"""The priorities: quorum queues have two levels, the upper one from 5 on."""

QUORUM = {"x-queue-type": "quorum"}

QUORUM_SINCE = (4, 0)
"""The first RabbitMQ whose quorum queues have priorities; earlier ones ignore them."""


def check(share: float | None, queue: Table, version: tuple[int, ...]) -> None:
    """Raise ``Refused`` if such queues of this RabbitMQ have no priorities; () is no RabbitMQ."""
    if share is not None and QUORUM.items() <= queue.items() and () < version < QUORUM_SINCE:
        release = ".".join(map(str, version))
        raise Refused(
            f"quorum queues of RabbitMQ {release} have no priorities, they came with 4.0:"
            " leave out urgent_share, or plan another kind of queue or version"
        )


def arguments(share: float | None, queue: Table) -> Table:
    """Return a queue's arguments for priorities: classic queues must declare their levels."""
    return {} if share is None or QUORUM.items() <= queue.items() else {"x-max-priority": HIGH}


def with_priorities(
    mix: Sequence[tuple[float, int]], share: float | None, usual_bytes: int
) -> Sequence[tuple[float, int, int | None]]:
    """Return the forms of messages, each with its share, length and priority; urgent ones first.

    Without a mix all have the usual length; without a share of urgent ones none has a priority.
    """
    lengths = [*mix] or [(1.0, usual_bytes)]
    if share is None:
        return [(part, length, None) for part, length in lengths]
    levels = ((share, HIGH), (1 - share, LOW))
    return [
        (level * part, length, priority) for level, priority in levels for part, length in lengths
    ]
