"""What a trend finds, night by night, and how often it reports a change where there is none."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from simulations.invented import SWEEP, Array, Random
from simulations.share import share, table

from mqperf.study.stats.compare import CANNOT_TELL, MIN_EFFECT, POINT_KEYS
from mqperf_trend.study.trends import TREND_FIGURES, _judged

RUNS = 0.02
"""Standard deviation of the logarithm between the repeats of a night."""

NIGHTS = 0.015
"""Standard deviation of the logarithm between nights."""

REPEATS = 3
START = pd.Timestamp("2026-03-14", tz="UTC")

Off = tuple[float, float]
"""Standard deviations between nights: common to all figures, and of each figure by itself."""

Level = Callable[[int, int], float]
"""Logarithm of the slowdown on a night (from 0) of a point (from 0)."""


def no_change(random: Random, scale: float) -> pd.DataFrame:
    """Nights, the first ten compared and later ones, on which anything is called a change."""
    rows = []
    nights = {
        "1.5 %": (NIGHTS, 0.0),
        "1.5 %, each figure its own": (0.0, NIGHTS),
        "3 %": (0.03, 0.0),
        "3 %, each figure its own": (0.0, 0.03),
    }
    for name, off in nights.items():
        for points in (1, 6):
            accused = np.array(
                [
                    verdicts(history(random, 61, points, stays, off)).any(axis=1)
                    for _ in range(round(20 * scale))
                ]
            )
            shares = (share(part.ravel()) for part in (accused[:, :10], accused[:, 10:]))
            rows.append((name, points, accused.size, *shares))
    return table(rows, "between nights", "points", "nights", "of the first 10", "of later ones")


def steps_found(random: Random, scale: float) -> pd.DataFrame:
    """Points that become 10 % slower on the last night: histories in which that is found."""
    rows = []
    for nights, count in ((2, 300), (4, 200), (6, 200), (16, 100)):
        for name, changed in (("all of 6", 6), ("1 of 6", 1)):
            level = stepped(nights - 1, 0.1, changed)
            reported = np.array(
                [
                    verdicts(history(random, nights, 6, level))[-1].reshape(6, -1)[:changed]
                    for _ in range(round(count * scale))
                ]
            )
            shares = share(reported.any(axis=(1, 2)).ravel()), share(reported[..., 0].ravel())
            rows.append((nights, name, len(reported), *shares))
    return table(rows, "nights", "points", "histories", "by any figure", "throughput, each point")


def long_histories(random: Random, scale: float) -> pd.DataFrame:
    """18 points: of throughput, those of which anything is found, and on which night first."""
    cases: dict[str, tuple[int, Level]] = {
        "20 % slower, 2 nights": (2, stepped(1, 0.2, 18)),
        "20 % slower, 30 nights": (30, stepped(29, 0.2, 18)),
        "1.5 % slower each night, 30 nights": (30, lambda night, _: 0.015 * night),
    }
    rows = []
    for name, (nights, level) in cases.items():
        reported = np.array(
            [
                verdicts(history(random, nights, 18, level)).reshape(nights - 1, 18, -1)[..., 0]
                for _ in range(round(10 * scale))
            ]
        )
        detected = reported.any(axis=1)
        first = reported.argmax(axis=1)[detected] + 2
        rows.append((name, detected.size, share(detected.ravel()), f"{np.median(first):.0f}"))
    return table(rows, "history", "points", "found", "first on night, median")


def history(
    random: Random, nights: int, points: int, level: Level, off: Off = (NIGHTS, 0.0)
) -> pd.DataFrame:
    """Return the judged steps of a history with this number of nights."""
    levels = np.array([[level(night, point) for point in range(points)] for night in range(nights)])
    slower = levels[..., np.newaxis] * np.array([-1, 1, 1])  # throughput falls, latencies rise
    common, separate = (random.normal(size=size) for size in ((nights, 1, 1), slower.shape))
    levels = slower + off[0] * common + off[1] * separate
    logs = levels[..., np.newaxis] + RUNS * random.normal(size=(*slower.shape, REPEATS))
    return _judged("trend_steps", _sides(logs), POINT_KEYS, MIN_EFFECT)


def _sides(logs: Array) -> pd.DataFrame:
    """Return an array by night, point, figure and repeat as ``trends`` has one side of steps."""
    night, point, figure = (axis.ravel() for axis in np.indices(logs.shape[:3]))
    runs = logs.reshape(-1, logs.shape[3])
    frame = pd.DataFrame(SWEEP, index=range(len(runs)))
    return frame.assign(
        threads=point + 1,
        figure=np.array(TREND_FIGURES)[figure],
        repeats=runs.shape[1],
        value=np.exp(runs.mean(axis=1)),
        unsure=0.0,
        log=runs.mean(axis=1),
        variance=runs.var(axis=1, ddof=1),
        low=np.nan,
        high=np.nan,
        starts=pd.Series([(START + pd.Timedelta(days=int(day)),) for day in night], dtype=object),
        point=point.astype(str),
        doubts="",
        folder=night.astype(str),
        folder_place=night + 1,
        machine_number=1,
    )


def verdicts(steps: pd.DataFrame) -> Array:
    """Return whether steps have a verdict: a row per night from the second, a column per figure."""
    ordered = steps.assign(verdict=steps["verdict"] != CANNOT_TELL, figure=_places(steps["figure"]))
    by_night = ordered.sort_values(["folder_place", "threads", "figure"])["verdict"].to_numpy()
    return np.asarray(by_night.reshape(steps["folder_place"].nunique(), -1))


def _places(figures: pd.Series) -> pd.Series:
    return figures.map({name: place for place, name in enumerate(TREND_FIGURES)})


def stays(_night: int, _point: int) -> float:
    """Return the level of a history without any change."""
    return 0.0


def stepped(at: int, slower: float, changed: int) -> Level:
    """Return a level that is slower from a night on, at the first ``changed`` points."""
    return lambda night, point: -float(np.log1p(-slower)) * (night >= at and point < changed)
