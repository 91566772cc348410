"""How often the rules over a sweep find planted effects, and report some where there are none."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from simulations.invented import Array, Random, alike, noisy, plain, runs_of
from simulations.share import intervals, of_mean, share, table

from mqperf.study.series.warmup import warmup_s
from mqperf.study.stats import scaling
from mqperf.study.stats.rules import sweep
from mqperf.study.tables import Tables

THREADS = (1, 2, 5, 10, 20, 50, 100)
POINTS = 12
NOISE = 0.03

DRAWS = 200
"""Draws of the bootstrap of the saturation point; mqperf itself makes 1000."""


def _law(n: Array) -> Array:
    return np.asarray(120 * n / (1 + 0.05 * (n - 1) + 0.0005 * n * (n - 1)))


CURVES: dict[str, tuple[Callable[[Array], Array], float | None]] = {
    "scalability law, peak at 44": (_law, 44),
    "collapse after 20, peak at 8": (
        lambda n: 50 * np.minimum(n, 8) * np.minimum(1, (20 / n) ** 0.5),
        8,
    ),
    "plateau from 4 on": (lambda n: 50 * np.minimum(n, 4), None),
    "plateau from 30 on": (lambda n: 50 * np.minimum(n, 30), None),
}


def peaks(random: Random, scale: float) -> pd.DataFrame:
    """Claims of a peak inside the sweep: right if between its bounds, wrong on a plateau."""
    scaling.DRAWS = 2  # the peak does not depend on them
    trials, rows = round(300 * scale), []
    for name, (curve, top) in CURVES.items():
        for repeats in (1, 3):
            fits = [_saturation_point(curve, repeats, NOISE, random) for _ in range(trials)]
            inside = [row for row in fits if row["peak_lies"] == "inside"]
            right = [_between(row, "peak_threads", top) for row in inside]
            right_share = share(right) if len(right) > 19 else "few"
            claimed = share(row["peak_lies"] == "inside" for row in fits)
            rows.append((name, repeats, trials, claimed, right_share))
    return table(rows, "curve", "repeats", "sweeps", "peak claimed", "of these right")


def saturation(random: Random, scale: float) -> pd.DataFrame:
    """The interval of the saturation point, of a curve that the law describes."""
    scaling.DRAWS = DRAWS
    trials, rows = round(200 * scale), []
    threads = np.array(THREADS, dtype=float)
    truth = float(threads[0] / _law(threads)[0] * _law(threads).max())
    for noise in (0.03, 0.08):
        for repeats in (1, 3):
            fits = [_saturation_point(_law, repeats, noise, random) for _ in range(trials)]
            held = [
                _between(row, "saturation_threads", truth)
                if row.get("saturation_threads_low")
                else None
                for row in fits
            ]
            rows.append((f"{noise:.0%}", repeats, trials, *intervals(held)))
    columns = ("sweeps", "with interval", "of these right", "wrong of all")
    return table(rows, "noise", "repeats", *columns)


def _saturation_point(
    curve: Callable[[Array], Array], repeats: int, noise: float, random: Random
) -> scaling.Row:
    threads = np.repeat(THREADS, repeats).astype(float)
    rates = curve(threads) * np.exp(noise * random.normal(size=len(threads)))
    return scaling.saturation_point(pd.DataFrame({"threads": threads, "throughput_msg_s": rates}))


def _between(row: scaling.Row, column: str, truth: float | None) -> bool:
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    return truth is not None and float(low or 0) <= truth <= float(high or 0)


def best(random: Random, scale: float) -> pd.DataFrame:
    """By how much the best of equal points is too high."""
    trials, rows = round(4000 * scale), []
    for repeats in (1, 3, 5):
        for count in (4, 10):
            rates = noisy((trials * count, repeats), NOISE, random).mean(axis=1)
            tops = rates.reshape(trials, count).max(axis=1) / 1000 - 1
            rows.append((count, repeats, trials, of_mean(tops)))
    return table(rows, "equal points", "repeats", "sweeps", "too high by, %")


def drifts(random: Random, scale: float) -> pd.DataFrame:
    """Sweeps of 12 points on a machine that slows down steadily, or does not."""
    trials, rows = round(400 * scale), []
    for repeats in (2, 3, 5):
        for drift in (0.0, 0.02, 0.05, 0.1):
            doubted = (
                bool(list(sweep.drift(_drifting(drift, repeats, random)))) for _ in range(trials)
            )
            rows.append((f"{drift:.0%}", repeats, trials, share(doubted)))
    return table(rows, "slower by", "repeats", "sweeps", "drift doubted")


def _drifting(drift: float, repeats: int, random: Random) -> Tables:
    tables = runs_of(noisy((POINTS, repeats), NOISE, random))
    place = tables["runs"]["position"].astype(float) / (POINTS * repeats - 1)
    tables["messages"]["throughput_msg_s"] *= 1 - drift * place.to_numpy()
    return tables


def controls(random: Random, scale: float) -> pd.DataFrame:
    """Three control runs beside 12 points in three repeats; the middle one is slower, or is not."""
    runs = plain(POINTS + 1, 3)["runs"].copy()
    control = runs["point"] == f"p{POINTS}"
    runs.loc[control, "control_run"] = [1, 2, 3]
    runs.loc[control, "point"] = "p0"
    runs.loc[control, "position"] = [-1, 18, 40]
    trials, rows = round(300 * scale), []
    for moved in (0.0, 0.02, 0.05, 0.1):
        doubted = []
        for _ in range(trials):
            rates = noisy((POINTS + 1, 3), 0.02, random)
            rates[POINTS, 1] *= 1 - moved
            doubted.append(bool(list(sweep.drift({**runs_of(rates), "runs": runs}))))
        rows.append((f"{moved:.0%}", trials, share(doubted)))
    return table(rows, "middle slower by", "sweeps", "drift doubted")


def spreads(random: Random, scale: float) -> pd.DataFrame:
    """Points of which one repeat is slower, or none."""
    trials, rows = round(600 * scale), []
    for noise in (0.02, 0.03, 0.05):
        for repeats in (2, 3, 5):
            flagged = []
            for slower in (0.0, 0.05, 0.1, 0.2):
                rates = noisy((trials, repeats), noise, random)
                rates[:, 0] *= 1 - slower
                doubts = len(list(sweep.spread(runs_of(rates))))
                flagged.append(share(np.arange(trials) < doubts))
            rows.append((f"{noise:.0%}", repeats, trials, *flagged))
    shares = ("none slower", "one by 5 %", "one by 10 %", "one by 20 %")
    return table(rows, "noise", "repeats", "points", *shares)


def warmups(random: Random, scale: float) -> pd.DataFrame:
    """Runs that begin slower and rise steadily for some seconds, or do not."""
    trials, rows = round(500 * scale), []
    for seconds in (32, 106):
        for length, depth in _planted(seconds):
            results = [_warmup(seconds, length, depth, random) for _ in range(trials)]
            cuts = [cut for cut in results if cut]
            median = f"{np.median(cuts):.0f}" if len(cuts) > 19 else "few"
            empty = share(cut is None for cut in results)
            planted = f"{length} s, from {depth:.0%} below" if length else "none"
            rows.append((seconds, planted, trials, share(map(bool, results)), median, empty))
    columns = ("runs", "found", "median found, s", "cannot tell")
    return table(rows, "load, s", "warm-up", *columns)


def _planted(seconds: int) -> Iterator[tuple[int, float]]:
    yield 0, 0.0
    for length in (4, 8) if seconds < 100 else (4, 8, 16, 32):
        for depth in (0.2, 0.6):
            yield length, depth


def _warmup(seconds: int, length: int, depth: float, random: Random) -> int | None:
    rates = 1000 + 30 * alike(seconds, 0.3, random)[0]
    rates[:length] *= 1 - np.linspace(depth, 0, length, endpoint=False)
    return warmup_s(rates)
