"""The speed of a core: a slower repeat is doubted, and so are sets of runs that are compared."""

from collections.abc import Mapping

import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.onhost.probes import yardstick
from mqperf.pages.report.environment import environment
from mqperf.study.stats import checks
from mqperf.study.stats.differences import differences
from mqperf.study.tables import Tables

KIND = "slower-cores"
ONE = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(50, 100))
RUN = "rabbitmq-cmsm-classic-rpc-call-t0050-r{}"


def at(speeds: Mapping[str, float], others: float = 2600.0, in_use: float = 0.8) -> Tables:
    """Two points of three repeats; the speed of a core in some runs, and in all others.

    ``in_use`` is the share of the host in use during the runs with another speed.
    """
    frames = dict(tables(ONE))
    cpu = frames["cpu"]
    host = cpu["kind"].eq("host") & cpu["scope"].eq("window")
    assert host.any()
    cpu.loc[host, "core_speed"] = cpu["run"].map(speeds).fillna(others)
    cpu.loc[host, "total_cores"] = 0.8 * cpu["cores"]
    cpu.loc[host & cpu["run"].isin([*speeds]), "total_cores"] = in_use * cpu["cores"]
    return frames


def found(frames: Tables) -> list[tuple[str, str]]:
    doubts = checks.doubts(frames)
    of_kind = doubts[doubts["kind"] == KIND]
    return [*zip(of_kind["run"], of_kind["text"], strict=True)]


def test_a_repeat_with_slower_cores_is_found() -> None:
    """The doubt says how much slower a core was, and than in which repeat."""
    frames = at({RUN.format(2): 2080.0, RUN.format(3): 2650.0})
    [(run, text)] = found(frames)
    assert run == RUN.format(2)
    assert "a core of host was 22 % slower than in repeat 3 of this point" in text


@pytest.mark.parametrize(
    "frames",
    [
        at({}),
        at({RUN.format(1): 2260.0}),
        at({}, others=float("nan")),
        at({RUN.format(1): 2080.0}, in_use=0.95),
        at({RUN.format(1): float("nan")}),
        at({RUN.format(repeat): 2080.0 for repeat in (1, 2, 3)}),
    ],
    ids=["equal", "nearly equal", "not recorded", "busier", "recorded in part", "another point"],
)
def test_sound_repeats_are_not_doubted(frames: Tables) -> None:
    """Speeds are compared between repeats of one point that leave as much of the host idle."""
    assert found(frames) == []


@pytest.mark.parametrize(
    ("speed", "listed"), [(2000.0, [("2600", "2000")]), (2400.0, []), (float("nan"), [])]
)
def test_sets_with_unequal_speeds_differ(speed: float, listed: list[tuple[str, str]]) -> None:
    """It stands among the differences of hardware, if both are known."""
    rows = differences(at({}), at({}, others=speed))
    of_speed = rows[rows["what"].str.startswith("Speed of a core")]
    assert [*zip(of_speed["value_in_a"], of_speed["value_in_b"], strict=True)] == listed
    assert set(of_speed["aspect"]) <= {"hardware"}


def test_a_report_has_it_among_the_hardware() -> None:
    """Median and range over all runs; a report without it has no such row."""
    frames = at({RUN.format(1): 2300.0})
    rows = environment(frames["runs"], frames["cpu"])["Hardware"].rows
    assert ("speed of a core, 1/s", "2600 (2300 to 2600)") in rows
    older = at({}, others=float("nan"))
    rows = environment(older["runs"], older["cpu"])["Hardware"].rows
    assert not any(row[0].startswith("speed") for row in rows)


def test_tables_of_published_reports_have_no_speed() -> None:
    """They may have no CPU at all."""
    frames = {name: frame for name, frame in at({}).items() if name != "cpu"}
    assert pd.Series(differences(frames, at({}))["what"]).str.startswith("Speed").sum() == 0


def test_the_work_takes_time() -> None:
    """A try of it takes CPU; the fastest is the result."""
    assert 0 < yardstick.cpu_s() < 1
