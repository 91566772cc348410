"""Complete runs through routers: every message is accounted for in all cases."""

import json
from pathlib import Path

import pandas as pd
import pytest
from killed import Killer
from patience import all_due
from samples import doubted

from mqperf.lab.runner import Silent, sweep
from mqperf.plan.file import parse_plan
from mqperf.record import runs
from mqperf_amqp_1_0.study.outcomes import OUTCOMES

pytestmark = pytest.mark.needs_router

PLAN = """\
systems: {{qpid-dispatch: {{topologies: [{0}], queues: [routed]}}}}
test_cases: [transfer]
load: {{generator: amqp-1.0, duration_s: 2, warmup_s: 1, {1}}}
probes: [inside]
"""


def measured(
    folder: Path, topology: str, load: str, observer: Silent | None = None, plan: str = PLAN
) -> dict[str, pd.DataFrame]:
    """The tables of the runs of a plan."""
    text = plan.format(topology, load)
    sweep(parse_plan(text, Path("test.yaml")), text, folder, observer or Silent())
    return doubted(folder)


def test_a_ramp_is_accounted_for_with_tls_and_without(tmp_path: Path) -> None:
    """TLS is an axis; clients trust the run's certificates, and no key is in the run folder."""
    plan = PLAN.replace("[{0}]", "[{0}], settings: {{tls: [false, true]}}")
    assert plan != PLAN
    load = "green_threads: 2, rate_msg_s: 200, ramp_to_msg_s: 1000, payload_bytes: 4000"
    frames = measured(tmp_path, "line", load, plan=plan)
    assert list(frames["runs"]["status"]) == ["done"] * 2, frames["runs"]["failure"].to_list()
    assert sorted(frames["runs"]["tls"]) == ["false", "true"]
    counts = frames["messages"]
    assert list(counts["sent"]) == list(counts["received"])
    assert all_due(counts["sent"], 2400)
    assert list(counts["offered_rate_msg_s"]) == [600] * 2
    assert counts["disagreements"].isna().all()
    outcomes = frames["outcomes"]
    assert list(outcomes["accepted"]) == list(outcomes["sent"])
    files = [file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file()]
    assert any("requireSsl: yes" in text for text in files)
    assert not any("PRIVATE KEY" in text for text in files)


def test_a_load_by_count_ends_when_all_is_sent(tmp_path: Path) -> None:
    """Exactly the planned number of messages, at a rate per connection with three of them."""
    load = "green_threads: 3, message_count: 1501, thread_rate_msg_s: 200"
    frames = measured(tmp_path, "standalone", load)
    assert list(frames["runs"]["status"]) == ["done"], frames["runs"]["failure"].to_list()
    [run], [row] = (frames[name].to_dict("records") for name in ("runs", "messages"))
    assert (row["sent"], row["received"], row["offered_rate_msg_s"]) == (1501, 1501, 600)
    assert run["all_sent_s"] > 2.4  # none was sent before it was due
    assert run["window_s"] >= 1.0
    assert not {"count-missed", "short-window"} & set(frames["doubts"]["kind"])


def test_every_message_is_accounted_for(tmp_path: Path) -> None:
    """Four seconds of 400 messages through three routers: sent, received, accepted, no doubt."""
    load = (
        "green_threads: 4, links: 2, processes: 2, rate_msg_s: 400, delivery: persistent,"
        " priority: 7, ttl_ms: 60000, credit: 50"
    )
    frames = measured(tmp_path, "line", load)
    assert list(frames["runs"]["status"]) == ["done"], frames["runs"]["failure"].to_list()
    [row] = frames["messages"].to_dict("records")
    assert row["sent"] == row["received"]
    assert all_due([row["sent"]], 1600)
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert row[name] == 0, name
    assert pd.isna(row["disagreements"])
    outcomes = frames["outcomes"]
    assert list(outcomes["process"]) == ["client-1", "client-2"]
    assert list(outcomes["accepted"]) == list(outcomes["sent"])
    assert outcomes["sent"].sum() == row["sent"]
    latency = frames["latency"].iloc[0]
    assert latency["service_p50_s"] <= latency["latency_p50_s"] * 1.001
    assert latency["confirm_p50_s"] > 0
    kinds = {"lost", "record-disagrees", "received-not-sent", "missing-process", "failed-run"}
    assert not kinds & set(frames["doubts"]["kind"])
    nodes = frames["cpu"].loc[frames["cpu"]["kind"] == "broker", "process"].unique()
    assert list(nodes) == ["R1", "R2", "R3"]
    rows = frames["node_metrics"]
    assert {*rows["kind"]} >= {"node", "link", "links", "address", "connections", "memory", "route"}
    assert list(frames["node_summary"]["node"]) == ["R1", "R2", "R3"]
    assert list(frames["node_summary"]["presettled_dropped"]) == [0, 0, 0]
    costs = rows[(rows["kind"] == "route") & (rows["node"] == "R1")]
    assert costs.groupby("object")["value"].max().to_dict() == {"R1": 0, "R2": 1, "R3": 2}


def test_large_messages_go_in_several_frames(tmp_path: Path) -> None:
    """At full speed, at-least-once, on one connection: each message arrives in one piece."""
    load = "green_threads: 2, links: 2, payload_bytes: [32, 100000], settlement: at-least-once"
    frames = measured(tmp_path, "interior", load)
    assert list(frames["runs"]["status"]) == ["done"] * 2
    counts = frames["messages"]
    assert (counts["received"] > 100).all()
    assert list(counts["received"]) == list(counts["sent"])
    assert (counts[["foreign", "duplicates", "reordered", "lost"]] == 0).all(axis=None)
    outcomes = frames["outcomes"]
    assert (outcomes[list(OUTCOMES)].sum(axis=1) == outcomes["sent"]).all()


def test_what_is_dropped_of_pre_settled_messages_is_counted(tmp_path: Path) -> None:
    """An overloaded router drops messages: the loss is exact, and no outcomes are claimed."""
    frames = measured(tmp_path, "standalone", "green_threads: 1, settlement: pre-settled")
    [row] = frames["messages"].to_dict("records")
    assert row["received"] > 100
    assert row["sent"] == row["received"] + row["lost"]
    assert (row["foreign"], row["duplicates"]) == (0, 0)
    assert frames["outcomes"].empty
    [dropped] = frames["node_summary"]["presettled_dropped"]
    assert dropped <= row["lost"]
    assert ("presettled-dropped" in {*frames["doubts"]["kind"]}) == (dropped > 0)


def test_an_outcome_that_is_missing_is_a_doubt(tmp_path: Path) -> None:
    """With one accepted message removed from the record, the totals no longer agree."""
    measured(tmp_path, "standalone", "green_threads: 1, rate_msg_s: 100")
    [run] = runs(tmp_path)
    file = run.path / "load" / "client-1.json"
    diary = json.loads(file.read_text())
    diary["counts"]["accepted"] = (sent := diary["counts"]["accepted"]) - 1
    file.write_text(json.dumps(diary))
    frames = doubted(tmp_path)
    texts = frames["doubts"].set_index("kind")["text"]
    assert f"{sent - 1} accepted" in texts["record-disagrees"]
    assert f"but {sent} were sent" in texts["record-disagrees"]


def test_a_dead_router_fails_the_point(tmp_path: Path) -> None:
    """The failure has its name and the end of its log; there is no figure."""
    killer = Killer(lambda process: process.cwd().endswith("/r2"))
    frames = measured(tmp_path, "line", "green_threads: 1, rate_msg_s: 100", killer)
    [failure] = frames["runs"]["failure"]
    assert failure.startswith("Router's R2 was killed by signal 9")
    assert len(frames["messages"]) == 0


NETWORKS = """\
{topologies: [graph, broker-between], queues: [routed], settings: {graph: {
  nodes: [{id: near, role: edge}, {id: hub, role: interior}, {id: next, role: interior},
    {id: far, role: edge}],
  edges: [{source: near, target: hub}, {source: hub, target: next, cost: 7},
    {source: next, target: far}]}}}
"""


def test_edge_routers_and_a_broker_pass_messages_on(tmp_path: Path) -> None:
    """Between edge routers of a network that the plan describes, and over a broker."""
    text = PLAN.format("NAMES", "green_threads: 2, rate_msg_s: 100")
    text = text.replace("{topologies: [NAMES], queues: [routed]}", NETWORKS.strip())
    sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    frames = doubted(tmp_path)
    assert list(frames["runs"]["status"]) == ["done"] * 2, frames["runs"]["failure"].to_list()
    counts = frames["messages"]
    assert (counts["sent"] > 0).all()
    assert list(counts["received"]) == list(counts["sent"])
    broker = frames["cpu"][frames["cpu"]["kind"] == "broker"]
    nodes = broker.groupby("topology")["process"].unique()
    assert [*nodes["graph"]] == ["near", "hub", "next", "far"]
    assert [*nodes["broker-between"]] == ["R1", "Broker", "R2"]
    used = broker[broker["process"] == "Broker"]
    assert (used["total_cores"] > 0).all()


FAULTS = """\
green_threads: 2, links: 2, rate_msg_s: 200, settlement: {}, duration_s: 26, timeout_s: 30}}
actions:
  - {{do: stop, node: R2, at_s: 3, for_s: 0.1}}
  - {{do: kill, node: R1, at_s: 16, for_s: 1"""


@pytest.mark.parametrize("settlement", ["at-least-once", "pre-settled"])
def test_what_a_fault_of_a_router_costs_is_accounted_for(tmp_path: Path, settlement: str) -> None:
    """The middle router restarts, the senders' router is killed: every message has an outcome.

    Losses from planned actions are no doubt.
    """
    text = PLAN.replace("duration_s: 2, ", "").format("line", FAULTS.format(settlement))
    sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    frames = doubted(tmp_path)
    assert list(frames["runs"]["status"]) == ["done"], frames["runs"]["failure"].to_list()
    [row] = frames["messages"].to_dict("records")
    assert row["sent"] == row["received"] + row["lost"]
    assert (row["foreign"], row["duplicates"]) == (0, 0)
    assert pd.isna(row["disagreements"])
    assert list(frames["outages"]["node"]) == ["R2", "R1"]
    assert (frames["outages"]["outage_s"] > 0).all()
    phases = frames["action_phases"]
    during = phases[phases["phase"] == "during"].to_dict("records")
    [restarted] = [row for row in during if row["node"] == "R2"]
    assert restarted["lost"] > 0
    assert phases.drop_duplicates("from_s")["lost"].sum() <= row["lost"]
    assert list(phases["sent"]) == list(phases["finished"] + phases["lost"])
    if settlement == "pre-settled":
        assert frames["outcomes"].empty
        assert phases["released"].isna().all()
        return
    [outcome] = frames["outcomes"].to_dict("records")
    assert sum(outcome[name] for name in OUTCOMES) == outcome["sent"] == row["sent"]
    assert outcome["accepted"] <= row["received"]
    assert row["lost"] <= outcome["released"] + outcome["modified"] + outcome["unsettled"]
    assert row["errors"] == outcome["released"] + outcome["modified"]
    assert restarted["released"] > 0
    recovered = frames["outages"]["recovery_s"].notna().all()
    if recovered:  # otherwise losses after the window belong to no phase
        assert not {"lost", "client-errors"} & {*frames["doubts"]["kind"]}
