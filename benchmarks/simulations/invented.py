"""Invented series, messages and runs, whose true parameters are known."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.signal import lfilter

from mqperf.study.tables import Tables, conform, empty

RATE = 300
"""Messages a second."""

SWEEP = {"system": "invented", "topology": "none", "queues": "none", "test_case": "rpc-call"}

Random = np.random.Generator
Array = np.ndarray


def alike(seconds: int, correlation: float, random: Random, runs: int = 1) -> Array:
    """Return noise of unit variance, autocorrelated from second to second; a row for each run."""
    fresh = random.normal(size=(runs, seconds))
    fresh[:, 0] /= np.sqrt(1 - correlation**2)
    return np.asarray(lfilter([np.sqrt(1 - correlation**2)], [1, -correlation], fresh))


def steady(seconds: int, random: Random, *, wander: float = 0.0) -> Array:
    """Return starts and finishes of messages; their latency may wander from second to second."""
    started = np.sort(random.random(random.poisson(RATE * seconds)) * seconds)
    latency = random.gamma(4, 0.002, len(started))
    if wander:
        latency *= np.exp(wander * alike(seconds, 0.5, random)[0])[started.astype(int)]
    return np.column_stack([started, started + latency])


def paused(seconds: int, random: Random, *, rate: float, length_s: float) -> Array:
    """Return starts and finishes of messages with pauses of the broker, whose end they await."""
    both = steady(seconds, random)
    begin = np.sort(random.random(random.poisson(rate * seconds)) * seconds)
    end = np.maximum.accumulate(begin + random.exponential(length_s, len(begin)))
    last = np.searchsorted(begin, both[:, 0], "right") - 1
    ends = np.concatenate([end, [0.0]])[last]
    both[:, 1] += np.maximum(0, ends - both[:, 0])
    return both


LATENCIES: dict[str, Callable[[int, Random], Array]] = {
    "independent": steady,
    "alike": partial(steady, wander=0.3),
    "2 pauses/s of 20 ms": partial(paused, rate=2, length_s=0.02),
    "1 pause in 2 s of 100 ms": partial(paused, rate=0.5, length_s=0.1),
    "1 pause in 50 s of 500 ms": partial(paused, rate=0.02, length_s=0.5),
}


def noisy(shape: tuple[int, int], noise: float, random: Random) -> Array:
    """Return throughputs of 1000 with relative noise: a row per point, a column per repeat."""
    return np.asarray(1000 * np.exp(noise * random.normal(size=shape)))


def runs_of(rates: Array) -> Tables:
    """Return the tables of such throughputs."""
    tables = plain(*rates.shape)
    return {**tables, "messages": tables["messages"].assign(throughput_msg_s=rates.ravel())}


@cache
def plain(count: int, repeats: int) -> Tables:
    """Return tables of ``count`` points without throughput, measured repeat by repeat."""
    frame = pd.DataFrame(
        {
            "run": [f"{point}-{repeat}" for point in range(count) for repeat in range(repeats)],
            "point": np.repeat([f"p{point}" for point in range(count)], repeats),
            "threads": np.repeat(np.arange(1, count + 1), repeats),
            "repeat": np.tile(np.arange(1, repeats + 1), count),
            **SWEEP,
        }
    )
    position = np.arange(count * repeats).reshape(repeats, count).T.ravel()
    runs = frame.assign(status="done", control_run=0, position=position)
    tables = {"runs": conform("runs", runs), "messages": conform("messages", frame)}
    return tables | {name: empty(name) for name in ("latency", "cpu")}
