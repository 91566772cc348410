"""How often the intervals hold the truth, and how often the tests accuse where nothing is.

    ./noxw -s benchmarks -- statistics [--quick] [PART ...]

Series, runs and sweeps are invented of which the truth is known, and judged by mqperf's own
functions.  Every row is a share of trials; the same seed gives the same table.  *given* is the
share that has an interval or a verdict, *right* the share of those that holds the truth, *missed*
the share of all trials that has a wrong one.  ``--quick`` takes a quarter of the trials.  The parts
are the functions below: within, over_repeats, comparisons, peaks, best, drifts, spreads, warmups.
"""

if __name__ == "statistics":
    raise ImportError("start benchmarks with python -P: benchmarks/statistics.py hides statistics")

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.signal import lfilter

from mqperf.series.warmup import warmup_s
from mqperf.stats import scaling
from mqperf.stats.compare import compare
from mqperf.stats.rules import sweep
from mqperf.stats.summary import points
from mqperf.tables import Tables, conform, empty
from mqperf.tables.within_run import PERCENTILES, latency_intervals, throughput_interval

SEED = 1
THREADS = (1, 2, 5, 10, 20, 50, 100)
SWEEP = {"system": "invented", "topology": "none", "queues": "none", "test_case": "rpc-call"}

Random = np.random.Generator
Row = tuple[str, str, float, float | None, int]
"""Section, setting, share of trials with an answer, share of those that is right, trials."""


def main(arguments: list[str]) -> None:
    """Print one table."""
    scale = 1 if "--quick" in arguments else 4
    scaling.DRAWS = 200
    print(f"{'what':20} {'setting':44} {'given':>6} {'right':>6} {'missed':>6} {'trials':>7}")
    parts = (within, over_repeats, comparisons, peaks, best, drifts, spreads, warmups)
    asked = {argument for argument in arguments if not argument.startswith("-")}
    for part in (part for part in parts if not asked or part.__name__ in asked):
        for what, setting, given, right, trials in part(np.random.default_rng(SEED), scale):
            told = "" if right is None else f"{right:6.1%} {given * (1 - right):6.1%}"
            print(f"{what:20} {setting:44} {given:6.0%} {told:13} {trials:7}", flush=True)


def alike(seconds: int, correlation: float, random: Random) -> np.ndarray:
    """Noise of unit variance in which each second resembles the one before."""
    fresh = random.normal(size=seconds)
    fresh[0] /= np.sqrt(1 - correlation**2)
    return np.asarray(lfilter([np.sqrt(1 - correlation**2)], [1, -correlation], fresh))


def shares(what: str, setting: str, held: list[bool | None]) -> Row:
    """The row of trials of which each was right, wrong, or without an answer."""
    told = [one for one in held if one is not None]
    right = float(np.mean(told)) if told else None
    return what, setting, len(told) / len(held), right, len(held)


# Within one run


def steady(seconds: int, random: Random, *, wander: float = 0.0) -> np.ndarray:
    """Started and finished of 300 messages a second; latency may wander from second to second."""
    started = np.sort(random.random(random.poisson(300 * seconds)) * seconds)
    latency = random.gamma(4, 0.002, len(started))
    latency *= np.exp(wander * alike(seconds, 0.5, random))[started.astype(int)]
    return np.column_stack([started, started + latency])


def paused(seconds: int, random: Random, *, rate: float, length_s: float) -> np.ndarray:
    """The same, while the broker pauses now and then; messages wait until it is over."""
    both = steady(seconds, random)
    begin = np.sort(random.random(random.poisson(rate * seconds)) * seconds)
    end = np.maximum.accumulate(begin + random.exponential(length_s, len(begin)))
    last = np.searchsorted(begin, both[:, 0], "right") - 1
    ends = np.concatenate([end, [0.0]])[last]
    both[:, 1] += np.maximum(0, ends - both[:, 0])
    return both


LATENCIES: dict[str, Callable[[int, Random], np.ndarray]] = {
    "independent": steady,
    "seconds alike": partial(steady, wander=0.3),
    "2 pauses/s of 20 ms": partial(paused, rate=2, length_s=0.02),
    "1 pause in 2 s of 100 ms": partial(paused, rate=0.5, length_s=0.1),
    "1 pause in 50 s of 500 ms": partial(paused, rate=0.02, length_s=0.5),
}


def within(random: Random, scale: int) -> Iterator[Row]:
    """Throughput, mean latency and percentiles of one run: how often the interval holds."""
    for seconds in (8, 20, 60, 100):
        for correlation in (0.0, 0.5, 0.7):
            held: list[bool | None] = []
            for _ in range(250 * scale):
                row = throughput_interval(1000 + 50 * alike(seconds, correlation, random))
                held.append(holds(row, "throughput_msg_s", 1000))
            yield shares("throughput in a run", f"{seconds} s, correlation {correlation}", held)
    for name, model in LATENCIES.items():
        latency = np.diff(model(20_000, random)).ravel()
        truth = dict(
            zip(PERCENTILES, np.quantile(latency, list(PERCENTILES.values())), strict=True)
        )
        truth["latency_mean_s"] = latency.mean()
        for seconds in (8, 20, 60) if model is steady else (20, 60):
            rows = [latency_row(model(seconds, random), seconds) for _ in range(50 * scale)]
            for column, true in truth.items():
                yield shares(
                    column.removesuffix("_s"),
                    f"{seconds} s, {name}",
                    [holds(row, column, true) for row in rows],
                )


def latency_row(both: np.ndarray, seconds: int) -> dict[str, float]:
    """The intervals that a run of these messages has."""
    values = np.quantile(np.diff(both), list(PERCENTILES.values()))
    return latency_intervals(both, (0, seconds), dict(zip(PERCENTILES, values, strict=True)))


def holds(row: dict[str, float], column: str, truth: float) -> bool | None:
    """Whether the interval of the column holds the truth; None without one."""
    if f"{column}_within_low" not in row:
        return None
    return bool(row[f"{column}_within_low"] <= truth <= row[f"{column}_within_high"])


# Over repeats and between sets


def runs_of(rates: np.ndarray) -> Tables:
    """Tables of throughputs, a row for each point and a column for each repeat."""
    tables = plain(*rates.shape)
    return {**tables, "messages": tables["messages"].assign(throughput_msg_s=rates.ravel())}


@cache
def plain(count: int, repeats: int) -> Tables:
    """The tables of so many points, without their throughput."""
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
    runs = frame.assign(status="done", sentinel=0, position=position)
    tables = {"runs": conform("runs", runs), "messages": conform("messages", frame)}
    return tables | {name: empty(name) for name in ("latency", "cpu")}


def noisy(shape: tuple[int, int], noise: float, random: Random) -> np.ndarray:
    """Throughputs of 1000 with this relative noise."""
    return np.asarray(1000 * np.exp(noise * random.normal(size=shape)))


def over_repeats(random: Random, scale: int) -> Iterator[Row]:
    """Student's t over the repeats of a point."""
    for repeats in (2, 3, 5):
        found = points(runs_of(noisy((500 * scale, repeats), 0.05, random)))
        low, high = found["throughput_msg_s_low"], found["throughput_msg_s_high"]
        held = (low <= 1000 * np.exp(0.05**2 / 2)) & (high >= 1000 * np.exp(0.05**2 / 2))
        yield shares("mean over repeats", f"{repeats} repeats, 5 % noise", list(held))


def comparisons(random: Random, scale: int) -> Iterator[Row]:
    """Sets of 12 points with 3 % noise: verdicts between equals, and ones found."""
    for repeats in (2, 3, 5):
        for session in (0.0, 0.03, 0.06):
            silent: list[bool | None] = []
            for _ in range(60 * scale):
                sides = [noisy((12, repeats), 0.03, random) for _ in "ab"]
                shifts = np.exp(session * random.normal(size=2))
                found = compare(*(runs_of(s * f) for s, f in zip(sides, shifts, strict=True)))
                silent.append(bool((found["verdict"] == "cannot tell").all()))
            setting = f"equal, {repeats} repeats, sessions differ by {session:.0%}"
            yield shares("no false verdict", setting, silent)
    for repeats in (3, 5):
        seen: list[bool | None] = []
        shown = compare(*(runs_of(noisy((12, repeats), 0.03, random)) for _ in "ab"))["detectable"]
        for _ in range(15 * scale):
            a, b = (noisy((12, repeats), 0.03, random) for _ in "ab")
            found = compare(runs_of(a), runs_of(b * (1 + shown.median())))
            seen += list(found["verdict"] == "better")
        setting = f"{repeats} repeats, {shown.median():.0%}, said to be detectable"
        yield shares("difference found", setting, seen)


# Sweeps


CURVES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float | None]] = {
    "scalability law, peak at 44": (
        lambda n: 120 * n / (1 + 0.05 * (n - 1) + 0.0005 * n * (n - 1)),
        44,
    ),
    "collapse after 20, peak at 8": (
        lambda n: 50 * np.minimum(n, 8) * np.minimum(1, (20 / n) ** 0.5),
        8,
    ),
    "plateau from 4 on": (lambda n: 50 * np.minimum(n, 4), None),
    "plateau from 30 on": (lambda n: 50 * np.minimum(n, 30), None),
}


def peaks(random: Random, scale: int) -> Iterator[Row]:
    """Claims of a peak inside the sweep: right if the interval holds it, wrong on a plateau."""
    for name, (curve, top) in CURVES.items():
        for repeats in (1, 3):
            threads, held = np.repeat(THREADS, repeats).astype(float), []
            for _ in range(30 * scale):
                rates = curve(threads) * np.exp(0.03 * random.normal(size=len(threads)))
                row = scaling.knee(pd.DataFrame({"threads": threads, "throughput_msg_s": rates}))
                inside = row["peak_lies"] == "inside"
                low, high = row.get("peak_threads_low") or 0, row.get("peak_threads_high") or 0
                held.append(
                    top is not None and float(low) <= top <= float(high) if inside else None
                )
            yield shares("peak claimed", f"{name}, {repeats} repeats", held)


def best(random: Random, scale: int) -> Iterator[Row]:
    """By how much the best of equal points is too high."""
    for count, repeats in ((4, 1), (10, 1), (4, 3), (10, 3)):
        top = [noisy((count, repeats), 0.03, random).mean(axis=1).max() for _ in range(500 * scale)]
        setting = f"of {count} equal points, {repeats} repeats, 3 % noise"
        yield "best is too high by", setting, 1.0, float(np.mean(top)) / 1000 - 1, len(top)


def drifts(random: Random, scale: int) -> Iterator[Row]:
    """Sweeps of 12 points whose machine stays the same, or does not; right is silence, or not."""
    for repeats, drift in ((2, 0.0), (3, 0.0), (3, 0.1), (3, 0.2)):
        told: list[bool | None] = []
        for _ in range(75 * scale):
            tables = runs_of(noisy((12, repeats), 0.03, random))
            place = tables["runs"]["position"].astype(float) / (12 * repeats)
            tables["messages"]["throughput_msg_s"] *= 1 - drift * place.to_numpy()
            told.append(bool(list(sweep.drift(tables))) == bool(drift))
        yield shares("drift", f"{repeats} repeats, {drift:.0%} from first to last run", told)
    runs = plain(13, 3)["runs"].copy()
    control = runs["point"] == "p12"
    runs.loc[control, "sentinel"] = [1, 2, 3]
    runs.loc[control, "point"] = "p0"
    runs.loc[control, "position"] = [-1, 18, 40]
    for moved in (0.0, 0.1):
        told = []
        for _ in range(75 * scale):
            rates = noisy((13, 3), 0.02, random)
            rates[12, 1] *= 1 - moved
            found = list(sweep.drift({**runs_of(rates), "runs": runs}))
            told.append(bool(found) == bool(moved))
        yield shares("drift", f"control runs, the middle one {moved:.0%} lower", told)


def spreads(random: Random, scale: int) -> Iterator[Row]:
    """Three repeats: how often a spread is told of points of this noise."""
    for noise in (0.03, 0.05, 0.1, 0.2):
        found = len(list(sweep.spread(runs_of(noisy((250 * scale, 3), noise, random)))))
        yield "spread is doubted", f"{noise:.0%} noise", 1.0, found / (250 * scale), 250 * scale


def warmups(random: Random, scale: int) -> Iterator[Row]:
    """A steady run has none; a ramp of eight seconds is found to within some seconds."""
    for ramp in (0, 600):
        right: list[bool | None] = []
        for _ in range(100 * scale):
            rates = 1000 + 30 * alike(106, 0.3, random)
            rates[:8] -= np.linspace(ramp, 0, 8, endpoint=False)
            found = warmup_s(rates)
            right.append(None if found is None else found == 0 if not ramp else 6 <= found <= 25)
        yield shares("warm-up", "ramp of 8 s" if ramp else "steady, 106 s", right)


if __name__ == "__main__":
    main(sys.argv[1:])
