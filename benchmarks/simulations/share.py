"""Shares of trials with their standard errors, as simulations print them."""

from collections.abc import Iterable
from math import sqrt

import numpy as np
import pandas as pd

Held = Iterable[bool | None]
"""Whether each trial was right; None for one without an answer."""


def share(trials: Iterable[bool]) -> str:
    """Return a share in per cent, ± its standard error.

    The error of none or all of n trials is that of half a trial: 0 of 300 does not prove never.
    """
    sample = np.asarray(list(trials), dtype=float)
    mean = float(sample.mean())
    likely = min(max(mean, 0.5 / len(sample)), 1 - 0.5 / len(sample))
    return f"{100 * mean:.1f} ± {100 * sqrt(likely * (1 - likely) / len(sample)):.1f}"


def of_mean(values: Iterable[float]) -> str:
    """Return a mean in per cent, ± its standard error."""
    sample = np.asarray(list(values), dtype=float)
    return f"{100 * sample.mean():.1f} ± {100 * sample.std(ddof=1) / sqrt(len(sample)):.1f}"


def intervals(held: Held) -> tuple[str, str, str]:
    """Return trials with an interval, right ones of these, and wrong ones of all, in per cent.

    Fewer than 20 intervals are "few".
    """
    trials = list(held)
    given = [trial for trial in trials if trial is not None]
    right = share(given) if len(given) >= 20 else "few"
    return f"{100 * len(given) / len(trials):.0f}", right, share(trial is False for trial in trials)


def table(rows: Iterable[tuple[object, ...]], *columns: str) -> pd.DataFrame:
    """Return the rows as a table of text."""
    return pd.DataFrame(list(rows), columns=list(columns), dtype=str)
