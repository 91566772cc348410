"""What a trend finds, night by night, and how often it accuses where nothing changed."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from simulations.invented import SWEEP, Array, Random
from simulations.share import share, table

from mqperf.study.stats.compare import CANNOT_TELL, KEYS, MIN_EFFECT
from mqperf.study.stats.trends import TREND_FIGURES, _judged

RUNS = 0.02
"""Standard deviation of the logarithm between the repeats of a night."""

NIGHTS = 0.015
"""The same between nights."""

REPEATS = 3
START = pd.Timestamp("2026-03-14", tz="UTC")

Off = tuple[float, float]
"""Standard deviations between nights: of what all figures have in common, and of each its own."""

Level = Callable[[int, int], float]
"""By what a point (from 0) is slower on a night (from 0), as the logarithm."""


def no_change(random: Random, scale: float) -> pd.DataFrame:
    """Nights, from the second on, on which anything at all is called a change; nothing is."""
    rows = []
    nights = {
        "1.5 %": (NIGHTS, 0.0),
        "1.5 %, each figure its own": (0.0, NIGHTS),
        "3 %": (0.03, 0.0),
    }
    for name, off in nights.items():
        for points in (1, 6):
            told: list[bool] = []
            for _ in range(round(20 * scale)):
                steps = history(random, 51, points, _stays, off)
                told += list(_found(steps).groupby(steps["folder_place"]).any())
            rows.append((name, points, len(told), share(told)))
    return table(rows, "between nights", "points", "nights", "any verdict")


def steps_found(random: Random, scale: float) -> pd.DataFrame:
    """Points that become 10 % slower on the last night: histories in which that is found."""
    rows = []
    for nights, count in ((2, 300), (6, 200), (16, 100)):
        for name, changed in (("all of 6", 6), ("1 of 6", 1)):
            level = _stepped(nights - 1, 0.1, changed)
            told = []
            for _ in range(round(count * scale)):
                steps = history(random, nights, 6, level)
                last = steps["folder_place"].eq(nights) & steps["threads"].le(changed)
                told.append(bool((_found(steps) & last).any()))
            rows.append((nights, name, len(told), share(told)))
    return table(rows, "nights", "points", "histories", "found")


def long_histories(random: Random, scale: float) -> pd.DataFrame:
    """18 points: of throughput, those of which anything is found, and on which night first."""
    cases: dict[str, tuple[int, Level]] = {
        "20 % slower, 2 nights": (2, _stepped(1, 0.2, 18)),
        "20 % slower, 30 nights": (30, _stepped(29, 0.2, 18)),
        "1.5 % slower each night, 30 nights": (30, lambda night, _: 0.015 * night),
    }
    rows = []
    for name, (nights, level) in cases.items():
        told, first = [], []
        for _ in range(round(10 * scale)):
            steps = history(random, nights, 18, level)
            own = steps[_found(steps) & steps["figure"].eq("throughput_msg_s")]
            nights_of = own.groupby("threads")["folder_place"].min()
            told += [bool(point in nights_of.index) for point in range(1, 19)]
            first += list(nights_of)
        rows.append((name, len(told), share(told), f"{np.median(first):.0f}"))
    return table(rows, "history", "points", "found", "first on night, median")


def history(
    random: Random, nights: int, points: int, level: Level, off: Off = (NIGHTS, 0.0)
) -> pd.DataFrame:
    """The steps of so many nights, judged."""
    levels = np.array([[level(night, point) for point in range(points)] for night in range(nights)])
    slower = levels[..., np.newaxis] * np.array([-1, 1, 1])  # throughput falls, latencies rise
    alike, own = (random.normal(size=size) for size in ((nights, 1, 1), slower.shape))
    levels = slower + off[0] * alike + off[1] * own
    logs = levels[..., np.newaxis] + RUNS * random.normal(size=(*slower.shape, REPEATS))
    return _judged("trend_steps", _sides(logs), KEYS, MIN_EFFECT)


def _sides(logs: Array) -> pd.DataFrame:
    """Nights, points, figures, repeats as ``trends`` has one side of steps."""
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
        starts=[(START + pd.Timedelta(days=int(one)),) for one in night],
        point=[str(one) for one in point],
        doubts="",
        folder=[str(one) for one in night],
        folder_place=night + 1,
        machine_number=1,
    )


def _found(steps: pd.DataFrame) -> pd.Series:
    return steps["verdict"] != CANNOT_TELL


def _stays(_night: int, _point: int) -> float:
    return 0.0


def _stepped(at: int, slower: float, changed: int) -> Level:
    """Slower from a night on, at so many points."""
    return lambda night, point: -float(np.log1p(-slower)) * (night >= at and point < changed)
