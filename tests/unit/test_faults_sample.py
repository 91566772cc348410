"""Tables and figures of the recorded sample of faults."""

from pathlib import Path

import pytest
import samples

from mqperf.pages import notebook
from mqperf.study.stats.doubt_kinds import SPOILING
from mqperf.study.tables import Tables

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/samples/faults"


@pytest.fixture(scope="module")
def found() -> Tables:
    return samples.complete(SAMPLE)


@pytest.mark.takes_long
def test_the_cost_of_a_shutdown_is_shown(found: Tables) -> None:
    """The middle router was down for 3 s, nothing arrived for longer; outcomes are in the row."""
    [shown] = notebook.table(found, "outages").to_dict("records")
    assert shown["condition"] == "shutdown"
    assert shown["downtime, s"] == pytest.approx(3, abs=0.2)
    assert shown["outage, s"] > shown["downtime, s"]
    outcomes = [shown[f"{name}, msg"] for name in ("released", "modified", "rejected")]
    assert 0 < shown["lost, msg"] <= sum(outcomes)


@pytest.mark.takes_long
def test_phases_make_up_the_window(found: Tables) -> None:
    """There is no gap between before, during and after; only during it messages were lost."""
    shown = notebook.table(found, "action_phases")
    assert shown["phase"].tolist() == ["before", "during", "after"]
    assert shown["until, s"].tolist()[:-1] == shown["from, s"].tolist()[1:]
    assert (shown["lost, msg"] > 0).tolist() == [False, True, False]


def test_a_run_with_an_action_is_drawn_in_time(found: Tables) -> None:
    """It is found in any order of the runs; without actions the last run is drawn."""
    turned = {name: frame.iloc[::-1] for name, frame in found.items()}
    for tables_in_order in (found, turned):
        assert notebook.disturbed(tables_in_order).endswith("-4ffa99dd")
    calm = {**found, "outages": found["outages"].head(0)}
    assert notebook.disturbed(calm) == found["messages"]["run"].iloc[-1]


def test_no_doubt_says_that_a_rate_is_wrong(found: Tables) -> None:
    """A planned action is no doubt; only the other work of the machine is one."""
    kinds = set(found["doubts"]["kind"])
    assert kinds & SPOILING <= {"noisy-host"}


def test_a_folder_without_actions_has_no_rows() -> None:
    """Its tables are empty, which is no error."""
    undisturbed = samples.complete(ROOT / "data/samples/stress")
    assert notebook.table(undisturbed, "outages").empty
    assert notebook.table(undisturbed, "action_phases").empty
