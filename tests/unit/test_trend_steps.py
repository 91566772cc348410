"""The statistics of steps between folders: planted steps are found, equal folders have none."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from mqperf.study.stats.compare import POINT_KEYS
from mqperf_trend.study.trends import TREND_FIGURES, _judged

pytestmark = pytest.mark.takes_long

NOISE = 0.02
Random = np.random.Generator


def invented(
    random: Random, folders: int, *, points: int = 4, off: float = 0.0, drift: float = 0.0
) -> pd.DataFrame:
    """Folders of three repeats as ``_sides`` gives them, equal except for a ``drift``.

    Days differ by ``off`` times the spread of runs.
    """
    rows, repeats = [], 3
    start = pd.Timestamp("2026-03-14", tz="UTC")
    for place in range(1, folders + 1):
        session = NOISE * off * random.normal() - drift * place
        for threads in range(1, points + 1):
            for figure in TREND_FIGURES:
                logs = NOISE * random.normal(size=repeats) + session
                key = dict(
                    zip(POINT_KEYS, ("s", "cmsm", "classic", "rpc-call", threads), strict=True)
                )
                values = {"repeats": repeats, "value": np.exp(logs.mean()), "unsure": 0.0}
                values |= {"log": logs.mean(), "variance": logs.var(ddof=1), "doubts": ""}
                starts = tuple([start + pd.Timedelta(days=place)] * repeats)
                values |= {"low": np.nan, "high": np.nan, "starts": starts, "point": str(threads)}
                where = {"folder": str(place), "folder_place": place, "machine_number": 1}
                rows.append({**key, "figure": figure, **values, **where})
    return pd.DataFrame(rows)


def alarmed(trials: int, off: float = 0.0) -> int:
    """The number of equal folders in which any step has a verdict, whatever its size."""
    sides = invented(np.random.default_rng(7), trials + 1, off=off)
    steps = _judged("trend_steps", sides, POINT_KEYS, 0.0)
    assert len(steps) == trials * 4 * len(TREND_FIGURES)
    return int(steps["verdict"].ne("cannot tell").groupby(steps["folder_place"]).any().sum())


@pytest.mark.parametrize("off", [0.0, 0.75])
def test_equal_folders_are_silent(off: float) -> None:
    """At most 1 % of them have a step called a change, even if days differ by 1.5 %."""
    # 1 % of 100 is 1; more than 4 happen by chance once in three hundred times.
    assert alarmed(100, off) <= 4


def test_what_changes_slowly_is_found() -> None:
    """1.5 % a folder is no step between neighbours, but soon one against earlier folders."""
    sides = invented(np.random.default_rng(8), 30, off=0.75, drift=0.015)
    steps = _judged("trend_steps", sides[sides["figure"] == TREND_FIGURES[0]], POINT_KEYS, 0.05)
    worse = steps[steps["verdict"].eq("worse")]
    assert set(worse["threads"]) == {1, 2, 3, 4}
    assert worse.groupby("threads")["folder_place"].min().max() <= 16
    assert worse["reference_folders"].max() > 1
    assert (worse["ratio"] < worse["step_ratio"]).mean() > 0.7


def test_no_verdict_vanishes_as_folders_are_added() -> None:
    """A history of any length gives its first folders the same verdicts as a short one."""
    sides = invented(np.random.default_rng(9), 25, off=0.75)
    later = sides["folder_place"] >= 4
    sides = sides.assign(log=sides["log"] - 0.12 * later, value=sides["value"] * 0.887**later)
    short, whole = (
        _judged("trend_steps", sides[sides["folder_place"] <= folders], POINT_KEYS, 0.05)
        for folders in (4, 25)
    )
    assert short["verdict"].ne("cannot tell").any()
    pd.testing.assert_frame_equal(whole.head(len(short)), short)


def judged(sides: pd.DataFrame) -> pd.DataFrame:
    """The steps of throughput with the usual minimum relevant difference."""
    return _judged("trend_steps", sides[sides["figure"] == TREND_FIGURES[0]], POINT_KEYS, 0.05)


def slower(sides: pd.DataFrame, places: Sequence[int], share: float = 0.2) -> pd.DataFrame:
    """The folders with figures reduced by a share in some of them."""
    moved = sides["folder_place"].isin(places)
    factor = 1 - share * moved
    return sides.assign(log=sides["log"] + np.log(factor), value=sides["value"] * factor)


def test_one_bad_day_is_one_change() -> None:
    """The next folder is compared with the reference before it, which continues."""
    steps = judged(slower(invented(np.random.default_rng(11), 12, off=0.75), [8]))
    assert set(steps.loc[steps["verdict"].ne("cannot tell"), "folder_place"]) == {8}
    after = steps[steps["folder_place"] > 8]
    assert set(after["folder_a"]) == {"5"}
    assert set(after["reference_folders"]) == {5}
    # a system that stays slower gets a reference of its own
    steps = judged(slower(invented(np.random.default_rng(11), 12, off=0.75), range(8, 13)))
    assert set(steps.loc[steps["verdict"].ne("cannot tell"), "folder_place"]) == {8}
    assert set(steps.loc[steps["folder_place"] == 12, "reference_folders"]) == {4}


def test_a_folder_of_single_runs_is_in_no_reference() -> None:
    """It has no verdict, and is in no reference."""
    sides = slower(invented(np.random.default_rng(12), 6), [6])
    single = sides["folder_place"] == 3
    sides = sides.assign(
        repeats=sides["repeats"].mask(single, 1), variance=sides["variance"].mask(single)
    )
    steps = judged(sides)
    assert steps.loc[steps["folder_place"] == 3, "p_value"].isna().all()
    newest = steps[steps["folder_place"] == 6]
    assert set(newest["verdict"]) == {"worse"}
    assert set(newest["reference_folders"]) == {4}


def test_repeats_that_are_equal_have_verdicts() -> None:
    """For a load with a rate the variation between days gives the error."""
    sides = invented(np.random.default_rng(13), 4).assign(variance=0.0, log=0.0, value=1.0)
    steps = judged(slower(sides, [4]))
    assert set(steps.loc[steps["verdict"].ne("cannot tell"), "folder_place"]) == {4}


def test_days_that_differ_more_are_learnt() -> None:
    """On a machine whose days vary by 6 %, 10 % is a change at first, and none later."""
    sides = invented(np.random.default_rng(14), 60, off=3.0)
    steps = judged(sides)
    accused = steps["verdict"].ne("cannot tell").groupby(steps["folder_place"]).any()
    assert accused.loc[:11].sum() > accused.loc[41:].sum()
    assert accused.loc[31:].mean() <= 0.1
    detectable = steps.groupby("folder_place")["detectable"].median()
    assert detectable[40] > 1.3 * detectable[6]


def test_one_disturbed_repeat_is_no_change() -> None:
    """Its mean would be a change, as days vary little, but the spread of repeats prevents it."""
    sides = invented(np.random.default_rng(10), 8)
    odd = sides["folder_place"].eq(8) & sides["threads"].eq(1)
    sides.loc[odd, ["log", "variance"]] = [-0.15, 0.0675]  # one repeat of three is slower by 0.45
    steps = _judged("trend_steps", sides, POINT_KEYS, 0.05)
    assert set(steps["verdict"]) == {"cannot tell"}
