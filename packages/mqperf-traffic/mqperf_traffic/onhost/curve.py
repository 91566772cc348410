"""When the messages of a route are due: by its count of each second, shaped by tenths of one."""

from collections.abc import Sequence

import numpy as np

from mqperf_numbered.onhost.cycles import CycledRate


def curve_of(
    per_second: Sequence[int], tenths: Sequence[int], *, speed: float, scale: float
) -> CycledRate:
    """Return the curve of a route; ``tenths`` are those of all routes together.

    ``speed`` divides the time that the profile takes, ``scale`` multiplies its messages.
    """
    shape = np.array(tenths, dtype=float).reshape(len(per_second), -1)
    total, per_row = shape.sum(axis=1, keepdims=True), shape.shape[1]
    shares = np.divide(shape, total, out=np.full_like(shape, 1 / per_row), where=total > 0)
    amounts = (shares * np.array(per_second, dtype=float)[:, None]).ravel() * scale
    step_s = 1 / (per_row * speed)
    return CycledRate([(amount / step_s, step_s) for amount in amounts])


def phase_of(number: int, routes: int) -> float:
    """Return the offset of a route's schedule, as a part of a message; keeps whole counts whole."""
    return (number + 0.5) / routes
