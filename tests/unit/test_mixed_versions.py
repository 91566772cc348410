"""Runs of several versions of a system, as requested by a plan."""

import pandas as pd
import pytest

from mqperf.study.stats.contrasts import _values_in_order
from mqperf.study.stats.rules.together import mixed_versions
from mqperf.study.tables import conform

ASKED = ["3.10", "4.0", "3.10", "4.0"]
GOT = ["3.10.8", "4.0.5", "3.10.8", "4.0.5"]


def runs(requested: list[str], got: list[str], **columns: object) -> pd.DataFrame:
    """Runs of RabbitMQ in the order of a plan, with requested and actual versions."""
    rows = {"run": [f"r{number}" for number in range(len(got))], "system": "rabbitmq"}
    versions = {"version": requested, "system_version": got, "position": range(1, len(got) + 1)}
    frame = pd.DataFrame({**rows, **versions, "status": "done", **columns})
    return conform("runs", frame)


def mixed(frame: pd.DataFrame) -> list[str]:
    return [finding.run for finding in mixed_versions({"runs": frame})]


def test_versions_that_a_plan_varies_are_no_mixture() -> None:
    """Versions that the plan varies are not a doubt."""
    assert mixed(runs(ASKED, GOT)) == []


def test_what_a_system_runs_on_may_be_what_is_varied() -> None:
    """The runtime may vary by plan; a different patch of the same version is a doubt."""
    for got, which in ((["25.2", "27.3"] * 2, []), (["25.2", "27.3", "25.2", "27.4"], ["r3"])):
        varied = {"erlang": ["25", "27"] * 2, "runtime_version": got}
        assert mixed(runs([""] * 4, ["4.0.5"] * 4, **varied)) == which


@pytest.mark.parametrize(
    ("got", "columns", "which"),
    [
        ([*GOT[:3], "4.0.6"], {}, ["r3"]),
        (GOT, {"generator_version": ["18", "18", "18", "17"]}, ["r3"]),
        (GOT, {"runtime_version": ["25", "27", "25.1", "27"]}, ["r2"]),
    ],
    ids=["another patch", "another generator", "another runtime"],
)
def test_other_differences_are_reported(
    got: list[str], columns: dict[str, object], which: list[str]
) -> None:
    """Runs that request the same version must have one, and all one load generator."""
    assert mixed(runs(ASKED, got, **columns)) == which


@pytest.mark.parametrize(
    ("versions", "mqperf", "which"),
    [
        (["16", "18", "16", "18"], "1", []),
        (["16", "18", "16", "17"], "1", ["r3"]),
        (["16", "18", "16", "18"], ["1", "1", "1", "2"], ["r3"]),
    ],
    ids=["one each", "another of one", "another mqperf"],
)
def test_each_load_generator_has_a_version(
    versions: list[str], mqperf: str | list[str], which: list[str]
) -> None:
    """Generators may differ by plan; each must have one version, and so must mqperf."""
    columns = {"generator": ["old", "new"] * 2, "mqperf_version": mqperf}
    assert mixed(runs(["4.0"] * 4, ["4.0.5"] * 4, generator_version=versions, **columns)) == which


def test_names_are_compared_with_the_first_of_the_plan() -> None:
    """Versions are in the order of the plan, not of the folders of runs."""
    frame = runs(ASKED, GOT)
    points = frame.iloc[[3, 2]]
    assert _values_in_order("version", points, {"runs": frame}) == ["3.10", "4.0"]
    assert _values_in_order("version", points, {"runs": frame.assign(position=float("nan"))}) == [
        "4.0",
        "3.10",
    ]
