"""Control runs: one point measured at the start, in the middle and at the end of a sweep."""

from pathlib import Path

import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.pages.report.build import build
from mqperf.plan import Plan
from mqperf.plan.columns import COMPUTED
from mqperf.plan.file import parse_plan
from mqperf.study.stats import compared, complete
from mqperf.study.stats.checks import as_text_lines
from mqperf.study.tables import Tables, all_attempts, read, write

pytestmark = pytest.mark.takes_long

PLAN = """
systems:
  rabbitmq: {topologies: [cmsm]}
test_cases: [rpc-call, rpc-cast]
load: {green_threads: [1, 10], duration_s: 5}
repeats: 2
order: random
"""


SHAPE = Shape(test_cases=("rpc-call",))


def plan(text: str = PLAN) -> Plan:
    return parse_plan(text, Path("watched.yaml"))


def test_a_control_run_stands_at_start_middle_and_end() -> None:
    """It is of the first listed point, whatever the order of the others."""
    cases = plan(PLAN + "control_runs: true").cases()
    assert [case.control_run for case in cases] == [1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3]
    watched = [case for case in cases if case.control_run]
    assert {(case.test_case, case.threads) for case in watched} == {("rpc-call", 1)}
    assert len({case.id for case in cases}) == len(cases)
    assert len({case.point for case in cases}) == 4


def test_other_cases_do_not_notice() -> None:
    """Other runs are the same with and without control runs."""
    usual, watched = plan().cases(), plan(PLAN + "control_runs: true").cases()
    assert [case.id for case in watched if not case.control_run] == [case.id for case in usual]


def watched_report() -> Tables:
    """The invented sweep with control runs of its first point, which became a fifth slower."""
    return complete(watched_rows())


def watched_rows() -> Tables:
    """The same tables as read, before control runs are separated."""
    rows = {name: frame for name, frame in tables(SHAPE).items() if name not in COMPUTED}
    model = rows["runs"].iloc[0]["run"]
    for turn, share in ((1, 1.0), (2, 0.9), (3, 0.8)):
        for name in ("runs", "messages", "latency", "intervals", "cpu"):
            copy = rows[name][rows[name]["run"] == model].assign(run=f"watch-{turn}")
            if name == "runs":
                copy = copy.assign(control_run=turn, position=(1, 10, 20)[turn - 1])
            if name == "messages":
                copy = copy.assign(throughput_msg_s=copy["throughput_msg_s"] * share, lost=turn - 1)
            rows[name] = pd.concat([rows[name], copy], ignore_index=True)
    return rows


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with control runs."""
    out = tmp_path_factory.mktemp("watched") / "out"
    return build(watched_report(), out, title="A sweep", html=False).parent


@pytest.mark.starts_programs
def test_a_report_tells_control_runs_apart(watched: Path, tmp_path: Path) -> None:
    """Topology pages are unchanged; the methods list control runs with their doubts."""
    build(tables(SHAPE), tmp_path / "without", title="A sweep", html=False)
    page, same = (out / "rabbitmq/cmsm/index.rst" for out in (watched, tmp_path / "without"))
    assert page.read_text() == same.read_text()
    methods = " ".join((watched / "methods/index.rst").read_text().split())
    assert "RabbitMQ: control runs of RPC CALL with 50 threads on" in methods
    assert "its highest throughput is 25.0 % above its lowest" in methods.replace("\xa0", " ")
    assert "end [#control-run-" in methods
    assert "2 of " in methods
    assert "messages were lost" in methods


@pytest.mark.starts_programs
def test_a_drift_is_told_on_the_first_page(watched: Path) -> None:
    """It concerns all numbers of the sweep, not only that of one point."""
    page = " ".join((watched / "index.rst").read_text().split())
    assert "throughput of the same points moved by \N{MINUS SIGN}" in page
    assert "about control runs, listed in" in page


def test_control_runs_have_a_table_of_their_own() -> None:
    """Their figures are in no other table, and in no point."""
    frames, plain = watched_report(), tables(SHAPE)
    controls = frames["control_runs"]
    assert list(controls["run"]) == ["watch-1", "watch-2", "watch-3"]
    assert list(controls["control_run"]) == [1, 2, 3]
    assert controls["throughput_msg_s"].is_monotonic_decreasing
    assert controls["latency_mean_s"].notna().all()
    for name in {*plain} - {"doubts", "control_runs"}:
        columns = [column for column in ("doubted", "text") if column in plain[name]]
        pd.testing.assert_frame_equal(
            frames[name].drop(columns=columns),
            plain[name].drop(columns=columns),
            check_dtype=False,  # pandas' type of texts depends on the join
        )
    assert plain["control_runs"].empty
    assert len(all_attempts(frames)) == len(plain["runs"]) + 3


def test_a_doubt_about_a_control_run_is_about_no_point() -> None:
    """It names the run and its system, and marks no point of a page or a comparison."""
    frames = watched_report()
    doubts = frames["doubts"]
    about_controls = doubts[doubts["run"].str.startswith("watch")]
    assert {"lost", "drift"} <= {*about_controls["kind"]}
    assert about_controls["point"].isna().all()
    assert set(about_controls["system"]) == {"rabbitmq"}
    lines = list(as_text_lines(frames))
    assert any(line.startswith("rabbitmq control run 3: drift: ") for line in lines)
    comparison = compared(tables(SHAPE), frames)["comparison"]
    assert not comparison["doubted"].fillna("").str.contains("drift").any()


def test_tables_written_with_control_runs_among_the_others_are_read(tmp_path: Path) -> None:
    """Former reports have them in ``runs`` and ``messages``; they are separated on reading."""
    rows = {name: frame for name, frame in watched_rows().items() if len(frame)}
    write(rows, tmp_path)
    (tmp_path / "published.json").write_text('{"title": "Kept"}')
    frames = complete(read(tmp_path))
    assert list(frames["control_runs"]["control_run"]) == [1, 2, 3]
    assert len(frames["runs"]) == len(tables(SHAPE)["runs"])
    assert len(frames["points"]) == len(tables(SHAPE)["points"])
