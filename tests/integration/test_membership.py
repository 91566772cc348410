"""The shipped script that replaces members of quorum queues, under the load of its plan."""

from pathlib import Path

import pytest
from patience import all_due
from samples import doubted

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file.checked import read_plan
from mqperf.record import runs

pytestmark = pytest.mark.needs_rabbitmq

PLANS = Path(__file__).parent.parent.parent / "plans"
FOR_A_BUSY_HOST = {
    "at_s: 8, for_s: 12": "at_s: 1, for_s: 27",
    "[5]": "[1]",
    "rate_msg_s: 300": "rate_msg_s: 200",
    "  undisturbed: {}\n": "",
}


def test_members_are_removed_and_added_and_no_message_is_lost(tmp_path: Path) -> None:
    """Each queue has two members for a while, then three again, whichever node is replaced."""
    text = (PLANS / "membership-quick.yaml").read_text()
    for shipped, changed in FOR_A_BUSY_HOST.items():
        assert shipped in text
        text = text.replace(shipped, changed)
    (tmp_path / "plan.yaml").write_text(text)
    (tmp_path / "membership.sh").write_text((PLANS / "membership.sh").read_text())
    read, folder = read_plan(tmp_path / "plan.yaml", problems_of), tmp_path / "runs"
    assert sweep(read.plan, read.text, folder, Silent()).failed == ()
    messages = doubted(folder)["messages"].query("sent > 0")
    assert [*messages["received"]] == [*messages["sent"]]
    assert len(messages) == 2
    assert all_due(messages["sent"], 6800)
    for run in runs(folder):
        [log] = run.path.glob("actions/*script.log")
        sizes = [row.split("\t")[-2:] for row in log.read_text().splitlines()]
        assert sizes.count(["2", "ok"]) == sizes.count(["3", "ok"]) == 4, log.read_text()
