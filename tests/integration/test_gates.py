"""Gates against a real RabbitMQ: the same plan passes, a slower plan fails."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import mqperf
from mqperf_gate.front.command import COMMAND

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm], queues: [classic]}}
test_cases: [rpc-cast]
load: {green_threads: 1, pause_s: 0.05, duration_s: 2, warmup_s: 0, cooldown_s: 0}
"""


@pytest.mark.usefixtures("shared")
def test_a_slower_plan_is_stopped_and_the_same_plan_passes(tmp_path: Path) -> None:
    """Compared with the plan of the baseline and later with its runs; all reports are written."""
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text(PLAN)
    after.write_text(PLAN.replace("0.05", "0.25"))
    junit, summary = tmp_path / "gate.xml", tmp_path / "summary.md"
    runs, trend = tmp_path / "runs", tmp_path / "trend"
    rest = ["--decide", "50%", "--budget", "5min", "--junit", str(junit), "--summary", str(summary)]
    slower = CliRunner().invoke(COMMAND.app, [str(before), str(after), *rest, "--runs", str(runs)])
    assert slower.exit_code == 1, slower.output
    assert "FAIL  candidate against baseline, rpc-cast, 1 thread: worse: " in slower.output
    suite = ET.fromstring(junit.read_text())  # noqa: S314 (our own)
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    recorded = runs / "baseline"
    assert len(mqperf.read(recorded)["runs"]) == len(mqperf.read(runs / "candidate")["runs"])
    same = CliRunner().invoke(
        COMMAND.app, [str(recorded), str(before), *rest, "--trend", str(trend)]
    )
    assert same.exit_code == 0, same.output
    assert "pass  candidate against baseline, rpc-cast, 1 thread: " in same.output
    [folder] = trend.iterdir()
    assert "not-of-plan" not in set(mqperf.read(folder).doubts["kind"])
    assert [line for line in summary.read_text().splitlines() if line.startswith("## ")] == [
        "## mqperf gate: failed",
        "## mqperf gate: passed",
    ]
