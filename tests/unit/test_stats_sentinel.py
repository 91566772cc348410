"""Sentinels: one point measured again at start, middle and end of a system's sweep."""

from pathlib import Path

import pandas as pd

from mqperf.plan import Plan
from mqperf.plan_file import parse_plan
from mqperf.stats.summary import points, run_figures
from mqperf.tables import empty
from mqperf.tables.shape import conform

PLAN = """
systems:
  rabbitmq: {topologies: [cmsm]}
test_cases: [rpc-call, rpc-cast]
load: {green_threads: [1, 10], duration_s: 5}
repeats: 2
order: random
"""


def plan(text: str = PLAN) -> Plan:
    return parse_plan(text, Path("watched.yaml"))


def test_a_sentinel_stands_at_start_middle_and_end() -> None:
    """The first listed point, whatever the order of the others."""
    cases = plan(PLAN + "sentinel: true").cases()
    assert [case.sentinel for case in cases] == [1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3]
    watched = [case for case in cases if case.sentinel]
    assert {(case.test_case, case.threads) for case in watched} == {("rpc-call", 1)}
    assert len({case.id for case in cases}) == len(cases)
    assert len({case.point for case in cases}) == 4


def test_other_cases_do_not_notice() -> None:
    """With a sentinel or without, the same runs are the same runs."""
    usual, watched = plan().cases(), plan(PLAN + "sentinel: true").cases()
    assert [case.id for case in watched if not case.sentinel] == [case.id for case in usual]


def test_points_leave_sentinels_out() -> None:
    """A sentinel watches the machine; it is no repeat of its point."""
    keys = pd.DataFrame({"run": ["s", "r"], "point": "p", "threads": 1, "repeat": 1})
    tables = {
        "runs": conform("runs", keys.assign(status="done", sentinel=[1, 0])),
        "messages": conform("messages", keys.assign(throughput_msg_s=[900.0, 1000.0])),
        "latency": empty("latency"),
        "cpu": empty("cpu"),
    }
    assert list(run_figures(tables)["run"]) == ["r"]
    point = points(tables).iloc[0]
    assert (point["repeats"], point["throughput_msg_s"]) == (1, 1000)
