"""When the messages of a route are due: each second has its count, tenths give it its shape."""

from collections.abc import Sequence

import numpy as np

from mqperf_numbered.onhost.cycles import CycledRate


def curve_of(
    per_second: Sequence[int], tenths: Sequence[int], *, speed: float, scale: float
) -> CycledRate:
    """The curve of a route; ``tenths`` are those of all routes together.

    A profile that is replayed faster takes less time, one that is scaled has more messages.
    """
    shape = np.array(tenths, dtype=float).reshape(len(per_second), -1)
    total, of_second = shape.sum(axis=1, keepdims=True), shape.shape[1]
    shares = np.divide(shape, total, out=np.full_like(shape, 1 / of_second), where=total > 0)
    amounts = (shares * np.array(per_second, dtype=float)[:, None]).ravel() * scale
    lasts = 1 / (of_second * speed)
    return CycledRate([(amount / lasts, lasts) for amount in amounts])


def phase_of(number: int, routes: int) -> float:
    """By which part of a message a route begins after others; whole counts stay whole by it."""
    return (number + 0.5) / routes
