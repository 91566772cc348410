"""Durations as people type them: ``30s``, ``5 min``, ``50ms``."""

import re

from mqperf.base.errors import MqperfError

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
DURATION = re.compile(rf"(\d+(?:\.\d+)?) ?({'|'.join(UNITS)})")


def seconds(text: str, option: str) -> float:
    """The seconds that an option gives; raises ``MqperfError`` for what is no duration."""
    match = DURATION.fullmatch(text.strip())
    if match is None:
        raise MqperfError(f"{option} {text}: expected a duration, such as 30s, 5min or 50ms")
    return float(match[1]) * UNITS[match[2]]
