"""Durations that options give."""

from mqperf.base import durations
from mqperf.base.errors import MqperfError


def seconds(text: str, option: str) -> float:
    """Return an option's duration in seconds; raise ``MqperfError`` for invalid text."""
    try:
        return durations.seconds(text.strip())
    except ValueError as error:
        raise MqperfError(f"{option} {text}: {error}") from None
