"""Several versions of Artemis in one plan, each started separately."""

from pathlib import Path

import pytest
from patience import all_due
from samples import doubted

from mqperf.lab.runner import Silent, sweep
from mqperf.plan.file import parse_plan

PLAN = """\
systems: {artemis: {topologies: [single], settings: {version: ["2.33", "2.56"]}}}
test_cases: [transfer]
load: {generator: amqp-1.0, green_threads: 3, rate_msg_s: 40, duration_s: 2, warmup_s: 1}
"""


@pytest.mark.needs_java
def test_each_point_is_of_the_version_that_it_names(tmp_path: Path) -> None:
    """As reported by Artemis, and with every message accounted for."""
    assert sweep(parse_plan(PLAN, Path("test.yaml")), PLAN, tmp_path, Silent()).failed == ()
    frames = doubted(tmp_path)
    versions = frames["runs"].set_index("version")["system_version"]
    assert versions.to_dict() == {"2.33": "2.33.0", "2.56": "2.56.0"}
    messages = frames["messages"]
    assert (messages["received"] == messages["sent"]).all()
    assert all_due(messages["sent"], 160)
