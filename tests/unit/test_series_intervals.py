"""Confidence intervals and warm-up detection on series whose true values are known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from mqperf.study.series.intervals import Interval, level_interval, ratio_interval
from mqperf.study.series.warmup import warmup_s

Series = NDArray[np.float64]
Seconds = NDArray[np.int64]


def steady(seconds: int, alike: float, random: np.random.Generator) -> Series:
    """Noise of unit variance with autocorrelation ``alike`` from second to second."""
    from scipy.signal import lfilter  # slow to load

    fresh = random.normal(size=seconds)
    fresh[0] /= np.sqrt(1 - alike**2)
    return np.asarray(lfilter([np.sqrt(1 - alike**2)], [1, -alike], fresh))


@pytest.mark.parametrize(("seconds", "alike"), [(20, 0.0), (20, 0.7), (60, 0.7), (100, 0.7)])
def test_intervals_hold_the_truth(seconds: int, alike: float) -> None:
    """95 in 100 intervals contain the true mean, although neighbouring seconds are correlated."""
    random = np.random.default_rng(11)
    held = []
    for _ in range(1000):
        interval = ratio_interval(1000 + 30 * steady(seconds, alike, random), np.ones(seconds))
        if interval is not None:
            held.append(interval[0] < 1000 < interval[1])
    assert len(held) > 800
    assert 0.93 < np.mean(held) < 0.995


def test_no_interval_of_counts_is_below_zero() -> None:
    """The interval of bursty throughput is wide, but not negative."""
    counts = np.tile([0.0, 0.0, 0.0, 9000.0, 0.0], 4)
    low, high = ratio_interval(counts, np.ones(20)) or (None, None)
    assert low == 0
    assert high is not None
    assert high > counts.mean()


def wandering(seconds: int, random: np.random.Generator) -> tuple[Seconds, Series]:
    """Second and latency of messages whose latency drifts from second to second."""
    second = np.repeat(np.arange(seconds), random.poisson(200, size=seconds))
    factors = np.exp(0.3 * steady(seconds, 0.5, random))
    return second, random.gamma(4, 0.002, size=len(second)) * factors[second]


def levels_of(level: float, second: Seconds, latency: Series, seconds: int) -> Interval | None:
    """The interval of a percentile, as for a run."""
    counts = np.bincount(second, minlength=seconds).astype(float)
    above = np.bincount(second[latency > np.quantile(latency, level)], minlength=seconds)
    return level_interval(level, counts - above, counts)


@pytest.mark.takes_long
@pytest.mark.parametrize("seconds", [20, 60])
def test_intervals_of_the_mean_latency_hold_the_truth(seconds: int) -> None:
    """It holds for a mean over messages, with correlated seconds of unequal numbers of them."""
    random, held = np.random.default_rng(17), []
    truth = wandering(50_000, random)[1].mean()
    for _ in range(600):
        second, latency = wandering(seconds, random)
        totals = np.bincount(second, weights=latency, minlength=seconds)
        counts = np.bincount(second, minlength=seconds)
        interval = ratio_interval(totals.astype(float), counts.astype(float))
        if interval is not None:
            held.append(interval[0] < truth < interval[1])
    assert len(held) > 400
    assert np.mean(held) > 0.93


def test_few_events_in_a_long_window_give_no_interval() -> None:
    """A mean dominated by six seconds in two minutes reflects events, not noise."""
    random = np.random.default_rng(18)
    rates = 1000 + 30 * steady(120, 0.3, random)
    assert ratio_interval(rates, np.ones(120)) is not None
    rates[10::20] -= 700
    assert ratio_interval(rates, np.ones(120)) is None


@pytest.mark.takes_long
@pytest.mark.parametrize(("level", "seconds"), [(0.5, 20), (0.9, 60), (0.95, 100)])
def test_intervals_of_percentiles_hold_the_truth(level: float, seconds: int) -> None:
    """It holds for percentiles, as far as the window suffices for them."""
    random, held = np.random.default_rng(12), []
    truth = np.quantile(wandering(20_000, random)[1], level)
    for _ in range(200):
        second, latency = wandering(seconds, random)
        levels = levels_of(level, second, latency, seconds)
        if levels is not None:
            low, high = np.quantile(latency, levels)
            held.append(low < truth < high)
    assert len(held) > 130
    assert np.mean(held) > 0.91


def test_percentiles_beyond_what_a_window_bears_have_no_interval() -> None:
    """With correlated seconds five must lie beyond the level: a minute is too short for p99.9."""
    random = np.random.default_rng(15)
    runs = [wandering(60, random) for _ in range(100)]
    for level in (0.95, 0.99):
        assert all(levels_of(level, *run, seconds=60) is None for run in runs)
    assert sum(levels_of(0.999, *run, seconds=60) is not None for run in runs) < 5
    alone = [(run[0], random.exponential(size=len(run[0]))) for run in runs]
    assert sum(levels_of(0.99, *run, seconds=60) is not None for run in alone) > 95


def test_one_pause_gives_no_interval() -> None:
    """The effect of a single event has no interval."""
    random = np.random.default_rng(16)
    rates = 1000 + 30 * steady(60, 0.3, random)
    assert ratio_interval(rates, np.ones(60)) is not None
    rates[30] = 0
    assert ratio_interval(rates, np.ones(60)) is None


def test_few_seconds_give_no_interval() -> None:
    """A series that is too short, empty, or has a trend gives none rather than a wrong one."""
    ones = np.ones(100)
    assert ratio_interval(np.full(19, 5.0), np.ones(19)) is None
    assert ratio_interval(0 * ones, 0 * ones) is None
    assert ratio_interval(np.arange(100.0), ones) is None


def test_rare_messages_have_no_interval() -> None:
    """An interval of p99.9 needs thousands of independent messages."""
    counts = np.full(60, 30.0)
    assert level_interval(0.5, counts / 2, counts) is not None
    assert level_interval(0.999, counts, counts) is None


def test_steady_runs_have_no_warmup() -> None:
    """A warm-up is reported in at most one steady run in a hundred."""
    random = np.random.default_rng(13)
    cuts = [warmup_s(1000 + 30 * steady(106, 0.3, random)) for _ in range(500)]
    assert sum(cut not in (0, None) for cut in cuts) <= 5


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
    """A run that rises until its end, or is too short, has no known end of the warm-up."""
    assert warmup_s(np.arange(60.0)) is None
    assert warmup_s(np.ones(10)) is None
    assert warmup_s(np.full(60, 7.0)) == 0
