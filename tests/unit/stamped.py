"""Stamped messages, and their bytes in pieces as a socket delivers them."""

from collections.abc import Iterator, Sequence

import numpy as np

from mqperf_numbered.onhost import stamps


def stamped(count: int, run: int = 7) -> stamps.Stamps:
    """The stamps of consecutive messages."""
    batch = np.zeros(count, dtype=stamps.STAMP)
    batch["run"], batch["number"], batch["due_ns"] = run, np.arange(count), np.arange(count) * 10
    return batch


def pieces(content: bytes, lengths: Sequence[int]) -> Iterator[bytes]:
    """The content in pieces of these lengths, repeated."""
    at, step = 0, 0
    while at < len(content):
        length = lengths[step % len(lengths)]
        yield content[at : at + length]
        at, step = at + length, step + 1
