"""Durations that options give."""

from mqperf.base import durations
from mqperf.base.errors import MqperfError


def seconds(text: str, option: str) -> float:
    """The seconds that an option gives; raises ``MqperfError`` for what is no duration."""
    try:
        return durations.seconds(text.strip())
    except ValueError as error:
        raise MqperfError(f"{option} {text}: {error}") from None
