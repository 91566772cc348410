"""Least squares with relative errors, and draws of its predictions.

The error of a measured CPU time grows with it: counters of CPU time tick, and the cost of a message
varies from run to run by some per cent.  So each run is weighted by the inverse of its measured
value, and the spread of the residuals is relative.  Draws are of the multivariate t
distribution of the coefficients (G. Seber and A. Lee, Linear Regression Analysis, 2003, 5.3): few
runs give wide intervals.
"""

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DRAWS = 4_000
LEVEL = 0.9
"""The level of every interval."""

LEAST = 0.002
"""Cores below which the weight does not grow: a tick of the kernel's counters in 5 s."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Coefficients by name, with draws of them in rows; ``noise`` is relative, one per draw.

    ``spread`` is the standard deviation of the relative residuals.
    """

    names: tuple[str, ...]
    values: Floats
    draws: Floats
    noise: Floats
    spread: float

    def of(self, name: str) -> tuple[float, float, float]:
        """A coefficient with its interval; zeros where it is not in the model."""
        if name not in self.names:
            return 0.0, 0.0, 0.0
        index = self.names.index(name)
        return interval(float(self.values[index]), self.draws[:, index])

    def at(self, terms: dict[str, float]) -> tuple[float, Floats]:
        """The value for these terms, and draws of it."""
        row = np.array([terms.get(name, 0.0) for name in self.names])
        return float(row @ self.values), self.draws @ row


def fit(
    terms: dict[str, Floats], measured: Floats, seed: str, *, least: float = LEAST
) -> Fit | None:
    """Fit ``measured`` by the terms, none of whose coefficients may be negative.

    Errors are relative, but absolute below ``least``.  The same ``seed`` gives the same draws.

    A term whose coefficient would be negative is left out.  None where there are no more
    measurements than terms, or the terms are not independent.
    """
    names = list(terms)
    weights = 1.0 / np.maximum(measured, least)
    while names:
        design = np.column_stack([terms[name] for name in names]) * weights[:, None]
        freedom = len(measured) - len(names)
        if freedom < 1 or np.linalg.matrix_rank(design) < len(names):
            return None
        solved, *_ = np.linalg.lstsq(design, measured * weights, rcond=None)
        values: Floats = solved.astype(np.float64)
        if values.min() < 0:
            names.remove(names[int(values.argmin())])
            continue
        residuals = measured * weights - design @ values
        spread = float(np.sqrt(residuals @ residuals / freedom))
        draws, noise = _drawn(values, design, spread, freedom, zlib.crc32(seed.encode()))
        return Fit(tuple(names), values, draws, noise, spread)
    return None


def interval(value: float, draws: Floats) -> tuple[float, float, float]:
    """A value with the ends of its interval, widened to include the value."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return value, min(float(low), value), max(float(high), value)


def _drawn(
    values: Floats, design: Floats, spread: float, freedom: int, seed: int
) -> tuple[Floats, Floats]:
    """Draws of the coefficients, and of the relative error of a further run."""
    random = np.random.default_rng(seed)
    scale = np.sqrt(freedom / random.chisquare(freedom, DRAWS))
    sizes = np.linalg.norm(design, axis=0)  # rates and constants are of other orders of magnitude
    scaled = design / sizes
    root = np.linalg.cholesky(np.linalg.inv(scaled.T @ scaled)) * spread / sizes[:, None]
    draws = values + (random.standard_normal((DRAWS, len(values))) @ root.T) * scale[:, None]
    return np.maximum(draws, 0.0), random.standard_normal(DRAWS) * spread * scale
