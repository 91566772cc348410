"""Intervals and warm-ups, tried on series of which the truth is known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from mqperf.series.intervals import level_interval, ratio_interval
from mqperf.series.warmup import warmup_s

Series = NDArray[np.float64]


def steady(seconds: int, alike: float, random: np.random.Generator) -> Series:
    """Noise of unit variance in which each second resembles the one before."""
    noise = random.normal(size=seconds)
    for second in range(1, seconds):
        noise[second] = alike * noise[second - 1] + noise[second] * np.sqrt(1 - alike**2)
    return noise


@pytest.mark.parametrize(
    ("seconds", "alike", "at_least"),
    [(60, 0.0, 0.93), (100, 0.5, 0.93), (100, 0.7, 0.90), (20, 0.5, 0.88)],
)
def test_intervals_hold_the_truth(seconds: int, alike: float, at_least: float) -> None:
    """About 95 in 100 intervals hold the true mean, although neighbouring seconds are alike."""
    random = np.random.default_rng(11)
    held = []
    for _ in range(400):
        interval = ratio_interval(1000 + 30 * steady(seconds, alike, random), np.ones(seconds))
        if interval is not None:
            held.append(interval[0] < 1000 < interval[1])
    assert len(held) > 360
    assert at_least < np.mean(held) < 0.99


def test_intervals_of_percentiles_hold_the_truth() -> None:
    """The same of p99, when latency itself drifts up and down from second to second."""
    random, seconds, held = np.random.default_rng(12), 60, []
    many = random.exponential(size=10**6) * np.exp(0.2 * random.normal(size=10**6))
    truth = np.quantile(many, 0.99)
    for _ in range(300):
        counts = random.poisson(200, size=seconds)
        second = np.repeat(np.arange(seconds), counts)
        latency = random.exponential(size=len(second))
        latency *= np.exp(0.2 * steady(seconds, 0.5, random))[second]
        below = np.bincount(second[latency <= np.quantile(latency, 0.99)], minlength=seconds)
        levels = level_interval(0.99, below.astype(float), counts.astype(float))
        if levels is not None:
            low, high = np.quantile(latency, levels)
            held.append(low < truth < high)
    assert len(held) > 270
    assert np.mean(held) > 0.91


def test_few_seconds_give_no_interval() -> None:
    """Rather no interval than a wrong one: too short, nothing finished, or a trend."""
    ones = np.ones(100)
    assert ratio_interval(np.full(19, 5.0), np.ones(19)) is None
    assert ratio_interval(0 * ones, 0 * ones) is None
    assert ratio_interval(np.arange(100.0), ones) is None


def test_rare_messages_have_no_interval() -> None:
    """An interval of p99.9 needs thousands of messages which tell something of their own."""
    counts = np.full(60, 30.0)
    assert level_interval(0.5, counts / 2, counts) is not None
    assert level_interval(0.999, counts, counts) is None


def test_steady_runs_have_no_warmup() -> None:
    """At most one steady run in a hundred is said to warm up."""
    random = np.random.default_rng(13)
    found = [warmup_s(1000 + 30 * steady(106, 0.3, random)) for _ in range(500)]
    assert sum(cut not in (0, None) for cut in found) <= 5


def test_warmup_is_found() -> None:
    """A ramp of eight seconds is found, to within a few seconds."""
    random, ramp = np.random.default_rng(14), np.linspace(600, 0, 8, endpoint=False)
    for _ in range(50):
        rates = 1000 + 30 * steady(106, 0.3, random)
        rates[:8] -= ramp
        cut = warmup_s(rates)
        assert cut is not None
        assert 6 <= cut <= 25


def test_never_steady() -> None:
    """A run that rises to its end, or is too short to tell, has no known end of the warm-up."""
    assert warmup_s(np.arange(60.0)) is None
    assert warmup_s(np.ones(10)) is None
    assert warmup_s(np.full(60, 7.0)) == 0
