"""Sweeps on a real, possibly shared cluster, without faults and with faults."""

import os
import re
import shutil
import signal
from pathlib import Path
from threading import Timer

import pytest
from one_rabbitmq import used_by_sweeps
from samples import doubted
from sweeps import (
    LONGER,
    ONE,
    PLAN,
    SEVERAL,
    Fault,
    newest,
    node,
    plan,
    statuses,
    with_window,
)
from typing_extensions import override

from mqperf.base.errors import PlanError
from mqperf.hosts import LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.installation import installed_version
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.lab.systems.rabbitmq.version import kind_of_queue
from mqperf.record import read_events, runs
from mqperf.study.tables import Tables

pytestmark = pytest.mark.needs_rabbitmq


WATCHED = PLAN + "probes: [inside]\n"


class Pause(Fault):
    """Stops a process, and resumes it two seconds later."""

    @override
    def strike(self, pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        Timer(2, os.kill, (pid, signal.SIGCONT)).start()


def unused_node() -> int:
    """The pid of Master, to which nobody is connected."""
    return node("mqperf1@localhost")


def epmd() -> int:
    """The pid of the nodes' port mapper."""
    return newest(lambda process: process.name() == "epmd")


def client() -> int:
    """The pid of the client."""
    return newest(lambda process: "client-1" in process.cmdline())


def server() -> int:
    """The pid of the server."""
    return newest(lambda process: "server-1" in process.cmdline())


@pytest.fixture(scope="module")
def measured(rabbitmq: PrivateCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of a small sweep without faults."""
    folder = tmp_path_factory.mktemp("sweep")
    with used_by_sweeps(rabbitmq):
        outcome = sweep(plan(WATCHED), WATCHED, folder, Silent())
    assert (outcome.done, outcome.failed) == (3, ())
    return folder


@pytest.fixture(scope="module")
def frames(measured: Path) -> Tables:
    """The tables of these runs."""
    return doubted(measured)


def test_nodes_report_their_metrics(frames: Tables) -> None:
    """Per second of the window, including both ends: queues, memory, connections, no alarm.

    A node of a busy machine that takes longer than a second to answer is asked less often.
    """
    rows = frames["node_metrics"]
    assert set(rows["node"]) == {"Master", "Slave 1", "Slave 2"}
    assert frames["node_summary"]["answers"].between(1, 4).all()
    assert (frames["node_summary"]["memory_max_bytes"] > 10**7).all()
    quantities = {*rows.loc[rows["kind"] == "node", "quantity"]}
    assert quantities >= {"connections", "channels", "memory_alarm", "disk_alarm", "disk_free"}
    of_queues = {*rows.loc[rows["kind"] == "queue", "quantity"]}
    assert of_queues == {"messages_ready", "messages_unacked"}
    assert (rows.loc[rows["quantity"].str.endswith("alarm"), "value"] == 0).all()
    assert (rows.loc[rows["quantity"] == "connections"].groupby("run")["value"].max() > 0).all()


def test_no_message_is_lost(frames: Tables) -> None:
    """Counts agree after the drain, in all three test cases."""
    messages = frames["messages"]
    assert set(messages["test_case"]) == {"rpc-call", "rpc-cast", "notify"}
    assert (messages["sent"] > 0).all()
    assert (messages["sent"] == messages["received"]).all()
    assert (messages[["lost", "errors", "duplicates"]] == 0).all(axis=None)


def test_exact_and_published_throughput_agree(frames: Tables) -> None:
    """The exact figure is near the simulator's own, whose duration is too long."""
    messages = frames["messages"]
    ratio = messages["published_throughput_msg_s"] / messages["throughput_msg_s"]
    assert ratio.between(0.5, 1.2).all()


def test_every_process_is_watched(frames: Tables) -> None:
    """Three nodes, a client, a server, the harness and the host, over the whole window."""
    cpu = frames["cpu"]
    whole = cpu[cpu["scope"] == "window"]
    nodes, probes = {"Master", "Slave 1", "Slave 2"}, {"psutil", "inside"}
    assert set(whole["process"]) == nodes | probes | {"client-1", "server-1", "mqperf", "host"}
    assert ((whole["end_s"] - whole["start_s"]) - 3).abs().max() < 1


def test_the_record_is_whole(measured: Path) -> None:
    """It has versions, hosts and the broker's configuration, and no secret."""
    for run in runs(measured):
        assert run.damaged() == []
        facts = run.facts()
        assert facts.system.version
        assert facts.hosts[0].cpu_model
        assert {p.reported for p in facts.processes} == {True}
        text = "".join(p.read_text(errors="replace") for p in run.path.rglob("*") if p.is_file())
        assert "default_pass = ***" in text
        assert "rabbit://mqperf:" not in text.replace("rabbit://mqperf:***", "")


def test_a_sound_run_raises_no_doubt_about_its_counts(frames: Tables) -> None:
    """Messages are conserved, and all processes are present."""
    suspicious = {"received-not-sent", "lost", "missing-process", "failed-run", "node-frozen"}
    assert not suspicious & set(frames["doubts"]["kind"])


def test_a_repeated_command_has_nothing_to_do(measured: Path) -> None:
    """Nothing is measured twice, and no system is started."""
    before = [run.path.stat().st_mtime_ns for run in runs(measured)]
    observer = Fault()
    assert sweep(plan(WATCHED), WATCHED, measured, observer).done == 0
    assert observer.reports == []
    assert [run.path.stat().st_mtime_ns for run in runs(measured)] == before


@pytest.mark.usefixtures("shared")
def test_a_frozen_node_fails_its_run_and_not_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that stays frozen fails its run, whether or not clients connect to it.

    Without the port mapper nothing can be cleaned up, but the run is kept.
    """
    monkeypatch.setattr("mqperf.lab.systems.rabbitmq.rabbitmqctl.TIMEOUT_S", 15)
    text = f"{LONGER}  timeout_s: 1\n"
    observer = Fault(unused_node, epmd, node, number=signal.SIGSTOP)
    outcome = sweep(plan(text), text, tmp_path, observer)
    assert outcome.done == 1, observer.reports
    reasons = dict(zip(("aside", "used"), (reason for _, reason in outcome.failed), strict=True))
    assert "Master (mqperf1@localhost) is frozen" in reasons["aside"]
    assert "Slave 2 (mqperf3@localhost) is frozen" in reasons["used"]
    assert sorted(statuses(tmp_path)) == ["done", "failed", "failed"]
    unclean = [step for step in observer.reports if "cleaning up after a run failed" in step]
    assert len([step for step in unclean if "is frozen" not in step]) == 1
    doubts = doubted(tmp_path)["doubts"]
    assert (doubts["kind"] == "failed-run").sum() == 2


@pytest.mark.usefixtures("shared")
def test_a_killed_client_fails_its_run(tmp_path: Path) -> None:
    """No point is published with a smaller load; the audit names the missing process."""
    outcome = sweep(plan(ONE), ONE, tmp_path, Fault(client))
    [(_, reason)] = outcome.failed
    assert "client-1 died with exit code -9" in reason
    kinds = set(doubted(tmp_path)["doubts"]["kind"])
    assert {"missing-process", "failed-run"} <= kinds


@pytest.mark.usefixtures("shared")
def test_a_pause_of_the_broker_shows_as_spread(tmp_path: Path) -> None:
    """A node is frozen for two seconds of one repeat: the run succeeds, with doubts."""
    text = f"{ONE}repeats: 2\n"
    outcome = sweep(plan(text), text, tmp_path, Pause(node))
    assert (outcome.done, outcome.failed) == (2, ())
    doubts = doubted(tmp_path)["doubts"]
    texts = doubts.loc[doubts["kind"] == "spread", "text"]
    assert texts.str.contains("the two repeats differ by").any()
    texts = doubts.loc[doubts["kind"] == "node-frozen", "text"]
    assert texts.str.contains("Slave 2 (mqperf3@localhost) from ", regex=False).any()


@pytest.mark.usefixtures("shared")
def test_a_planned_freeze_is_an_outage_and_no_doubt(tmp_path: Path) -> None:
    """The run goes on; the table has the length of the outage, and no doubt is raised."""
    text = with_window(10) + ("actions: [{do: freeze, node: Slave 1, at_s: 3, for_s: 2}]\n")
    assert sweep(plan(text), text, tmp_path / "runs", Silent()).failed == ()
    frames = doubted(tmp_path / "runs")
    [outage] = frames["outages"].to_dict("records")
    assert outage["outage_s"] > 0.5 * outage["downtime_s"] > 0
    kinds = set(frames["doubts"]["kind"])
    assert not kinds & {"node-frozen", "failed-run"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have connections cut")
@pytest.mark.usefixtures("shared")
def test_clients_reconnect_after_their_connections_are_cut(tmp_path: Path) -> None:
    """All connections to a node at once; the run goes on and records their number."""
    text = with_window(10)
    text += "actions: [{do: cut-connections, node: Slave 1, at_s: 3, for_s: 2, share: 1}]\n"
    assert sweep(plan(text), text, tmp_path, Silent()).failed == ()
    [run] = runs(tmp_path)
    [ended] = [event for event in read_events(run.path) if event.what == "action-ended"]
    assert ended.detail["cut"] == ended.detail["connections"] > 0
    frames = doubted(tmp_path)
    [outage] = frames["outages"].to_dict("records")
    after = f"phase == 'window' and stream == 'round-trip' and start_s >= {outage['ended_s']}"
    assert frames["intervals"].query(after)["count"].sum() > 0
    assert "failed-run" not in set(frames["doubts"]["kind"])


@pytest.mark.usefixtures("shared")
def test_a_load_in_the_background_is_measured_separately(tmp_path: Path) -> None:
    """CAST runs beside CALL: neither loses messages, and their figures are separate."""
    text = f"{ONE}background: [{{test_case: rpc-cast, green_threads: 2, pause_s: 0.01}}]\n"
    assert sweep(plan(text), text, tmp_path / "runs", Silent()).failed == ()
    frames = doubted(tmp_path / "runs")
    beside, main = frames["background"].iloc[0], frames["messages"].iloc[0]
    assert beside["sent"] == beside["received"] > 0
    assert main["sent"] == main["received"] == main["round_trip"] > 0
    assert [row[name] for row in (beside, main) for name in ("lost", "errors")] == [0, 0, 0, 0]
    assert 0 < beside["throughput_msg_s"] <= 2 / 0.01
    assert beside["latency_p50_s"] > 0
    used = frames["cpu"].query("scope == 'window' and process == 'background-1 client-1'")
    assert list(used["kind"]) == ["background"]
    assert used["total_cores"].iloc[0] > 0
    kinds = set(frames["doubts"]["kind"])
    assert not kinds & {"background-load", "record-disagrees", "failed-run"}


@pytest.mark.usefixtures("shared")
def test_an_action_on_an_unknown_node_is_refused(tmp_path: Path) -> None:
    """Before anything is started, with the names of the known nodes."""
    text = with_window(10) + ("actions: [{do: freeze, node: Nobody, at_s: 3, for_s: 2}]\n")
    with pytest.raises(PlanError, match="'Nobody'; known: Master, Slave 1, Slave 2"):
        sweep(plan(text), text, tmp_path / "runs", Silent())


@pytest.mark.needs_redis
@pytest.mark.usefixtures("shared")
def test_a_system_that_is_not_installed_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails before anything starts; the record has the command to install it."""
    which = shutil.which
    monkeypatch.setattr(
        shutil,
        "which",
        lambda name, **more: (name != "redis-server" and which(name, **more)) or None,
    )
    outcome = sweep(plan(SEVERAL), SEVERAL, tmp_path, Silent())
    [(failed, reason)] = outcome.failed
    assert (outcome.done, failed.case_id.partition("-")[0]) == (1, "zeromq")
    assert "sudo apt-get install redis-server" in reason


@pytest.mark.usefixtures("shared")
def test_ha_queues_are_what_the_server_has(tmp_path: Path) -> None:
    """The run and the copy of the plan have the actual kind of queue."""
    text = ONE.replace("[classic]", "[ha]  # replicated")
    assert sweep(plan(text), text, tmp_path, Silent()).done == 1
    [run] = runs(tmp_path)
    kind = kind_of_queue("ha", installed_version(LocalHost()))
    assert run.case_id.startswith(f"rabbitmq-cs1ss2-{kind}-")
    copy = (tmp_path / "plan.yaml").read_text()
    assert copy == text.replace("[ha]", f"[{kind}]")
    assert [case.id for case in plan(copy).cases()] == [run.case_id]


@pytest.mark.usefixtures("shared")
def test_a_client_without_an_answer_fails_its_run(tmp_path: Path) -> None:
    """Its counts look busy, but every call failed, so there is no measurement."""
    text = f"{ONE}  timeout_s: 1\n"
    observer = Fault(server, number=signal.SIGSTOP, phase="warming up")
    [(_, reason)] = sweep(plan(text), text, tmp_path, observer).failed
    assert re.match(r"client-1: all \d+ messages failed", reason)
