"""Durations as people write them: ``90 s``, ``5min``, ``50ms``."""

import re

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
DURATION = re.compile(rf"(\d{{1,6}}(?:\.\d+)?) ?({'|'.join(UNITS)})")


def seconds(text: str) -> float:
    """Convert a duration to seconds; raises ``ValueError`` for any other text."""
    match = DURATION.fullmatch(text)
    if match is None:
        raise ValueError("expected a duration such as 20 min, 90 s or 50ms")
    return float(match[1]) * UNITS[match[2]]
