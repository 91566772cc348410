"""Messages with stamps, and their bytes as they come over a wire: in pieces."""

from collections.abc import Iterator, Sequence

import numpy as np

from mqperf_numbered.onhost import stamps


def stamped(count: int, run: int = 7) -> stamps.Stamps:
    """Stamps of messages in their order."""
    batch = np.zeros(count, dtype=stamps.STAMP)
    batch["run"], batch["number"], batch["due_ns"] = run, np.arange(count), np.arange(count) * 10
    return batch


def pieces(content: bytes, lengths: Sequence[int]) -> Iterator[bytes]:
    """All of it, cut to these lengths over and over."""
    at, step = 0, 0
    while at < len(content):
        length = lengths[step % len(lengths)]
        yield content[at : at + length]
        at, step = at + length, step + 1
