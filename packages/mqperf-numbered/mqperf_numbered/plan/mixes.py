"""The notation of a mix of body lengths in plans."""

import re

from mqperf.plan.file.attached import MOST_BYTES
from mqperf_numbered.plan.paced import with_room

Mix = tuple[tuple[float, int], ...]
"""For each length, its share of all messages, and the length in bytes."""

PART = re.compile(r"(\d{1,3}(?:\.\d+)?) % of (\d{1,8})")

MOST = 8
"""The most lengths of a load."""

WHOLE = 1e-6
"""Allowed difference of the sum of shares from 1."""


def mix_of(text: str) -> Mix:
    """Parse lengths with their shares; raises ``ValueError`` if the text is malformed."""
    matches = [PART.fullmatch(part.strip()) for part in text.split("+")]
    mix = tuple((float(match[1]) / 100, int(match[2])) for match in matches if match)
    shares, lengths = [share for share, _ in mix], {length for _, length in mix}
    whole = all(shares) and abs(sum(shares) - 1) < WHOLE
    if not (whole and len(matches) == len(lengths) and 2 <= len(lengths) <= MOST):
        raise ValueError(
            f"it is two to {MOST} different lengths with shares that make 100 %, such as"
            f" '90 % of 256 + 10 % of 65536': got {text!r}"
        )
    if max(lengths) > MOST_BYTES:
        raise ValueError(f"a body has at most {MOST_BYTES:,} bytes, got {max(lengths):,}")
    with_room(min(lengths))
    return mix


def mean_bytes(mix: Mix) -> int:
    """Return the mean length of a body."""
    return round(sum(share * length for share, length in mix))
