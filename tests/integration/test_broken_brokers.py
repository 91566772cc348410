"""Sweeps whose brokers fail while they run or at their start; each test has its own nodes."""

from pathlib import Path

import pytest
from samples import doubted
from sweeps import ONE, SEVERAL, TWO, Fault, node, plan, single_broker, with_window

from mqperf.lab.runner import Silent, sweep
from mqperf.study import tables

pytestmark = pytest.mark.needs_rabbitmq


def test_a_killed_node_fails_its_run_only(tmp_path: Path) -> None:
    """The failure names the node and its log is kept; the next run gets a new node."""
    text = single_broker(TWO)
    outcome = sweep(plan(text), text, tmp_path, Fault(lambda: node("mqperf1@localhost")))
    [(failed, reason)] = outcome.failed
    assert outcome.done == 1
    assert "Broker was killed by signal 9" in reason
    assert (failed.path / "broker" / "node1.log").stat().st_size > 0


def test_a_node_that_the_plan_kills_comes_back(tmp_path: Path) -> None:
    """The run goes on and clients use other nodes; the node is watched again, with no doubt."""
    text = with_window(15).replace("cs1ss2", "any-node") + (
        "actions: [{do: kill, node: Slave 2, at_s: 3, for_s: 2}]\n"
    )
    assert sweep(plan(text), text, tmp_path / "runs", Silent()).failed == ()
    frames = doubted(tmp_path / "runs")
    [outage] = frames["outages"].to_dict("records")
    assert outage["downtime_s"] > 0
    cpu = frames["cpu"].query("process == 'Slave 2' and scope == 'interval'")
    assert cpu["end_s"].min() < 3 < outage["ended_s"] < cpu["end_s"].max()
    kinds = set(frames["doubts"]["kind"])
    assert not kinds & {"failed-run", "broker-alarm"}


def test_a_broker_short_of_memory_is_reported(tmp_path: Path) -> None:
    """The broker blocks publishers, so the run fails; the audit quotes the log of the broker."""
    text = f"{single_broker(ONE)}  timeout_s: 1\n".replace(
        "single]", "single]\n    settings: {memory_watermark_mb: 64}"
    )
    sweep(plan(text), text, tmp_path, Silent())
    doubts = doubted(tmp_path)["doubts"]
    assert "failed-run" in set(doubts["kind"])
    alarms = doubts.loc[doubts["kind"] == "broker-alarm", "text"]
    assert alarms.str.contains("memory resource limit alarm set on node").any()


@pytest.mark.needs_redis
def test_a_system_that_does_not_start_leaves_the_others(tmp_path: Path) -> None:
    """Its cases are recorded as failed with the reason; the next system is measured."""
    text = SEVERAL.replace("cmsm]", "single]\n    settings: {start_timeout_s: 1}")
    outcome = sweep(plan(text), text, tmp_path, Silent())
    [(failed, reason)] = outcome.failed
    assert outcome.done == 1
    assert "is not ready after 1 s" in reason
    assert failed.facts().failure == reason
    runs = tables.read(tmp_path)["runs"]
    assert dict(zip(runs["system"], runs["status"], strict=True)) == {
        "rabbitmq": "failed",
        "zeromq": "done",
    }
