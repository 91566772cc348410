"""Kinds of queue by version of RabbitMQ."""

from mqperf.base.errors import SystemFault
from mqperf.base.releases import Version, parsed

MIRRORING_ENDED: Version = (4,)
"""The first version without mirrored queues."""

STREAMS_BEGAN: Version = (3, 9)
"""The first version with streams."""


def kind_of_queue(asked: str, version: str) -> str:
    """Return the actual kind of queue: ``ha`` becomes mirrored if available, else quorum.

    Raises ``SystemFault`` for mirrored queues, and streams, of a RabbitMQ without them.
    """
    mirrors = parsed(version) < MIRRORING_ENDED
    if asked == "ha":
        return "mirrored" if mirrors else "quorum"
    if asked == "mirrored" and not mirrors:
        raise SystemFault(
            f"RabbitMQ {version} has no mirrored queues, they were removed in 4.0:"
            " plan queues: [ha] for what this version has, or install RabbitMQ 3"
        )
    if asked == "stream" and parsed(version) < STREAMS_BEGAN:
        raise SystemFault(
            f"RabbitMQ {version} has no streams, they came with 3.9: leave out queues: [stream], or"
            " install a newer RabbitMQ"
        )
    return asked
