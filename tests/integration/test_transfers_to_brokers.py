"""The AMQP 1.0 load on brokers in Java: messages are accounted for as with routers."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from one_rabbitmq import used_by_sweeps
from patience import all_due
from samples import doubted

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems import SYSTEMS, Deployment
from mqperf.plan.file import parse_plan
from mqperf.study import tables
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_numbered.onhost.broker import Broker

pytestmark = pytest.mark.needs_java

PLAN = """\
systems: {{{0}: {{topologies: [single]}}}}
test_cases: [transfer]
load:
  generator: amqp-1.0
  duration_s: 2
  warmup_s: 1
  green_threads: 3
  links: 2
  rate_msg_s: 40
  payload_bytes: [300, 200000]
probes: [inside]
"""


@pytest.fixture(scope="module")
def artemis() -> Iterator[Deployment]:
    """One broker for all tests; sweeps use it instead of starting their own."""
    host, system = LocalHost(), SYSTEMS["artemis"]
    with (
        host.scratch("test-transfers") as folder,
        system.start(system.watched({}), [HostFolder(host, folder)]) as running,
        used_by_sweeps(running, "artemis"),
    ):
        yield running


@pytest.mark.usefixtures("artemis")
@pytest.mark.parametrize("system", ["artemis", "activemq"])
def test_every_message_is_accounted_for(system: str, tmp_path: Path) -> None:
    """In one frame or several, through a queue: sent, received, accepted, in order."""
    by_count = PLAN.replace("duration_s: 2", "duration_s: 20\n  message_count: 160")
    text = by_count.format(system)
    outcome = sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    assert outcome.failed == ()
    frames = doubted(tmp_path)
    counts = frames["messages"]
    assert list(counts["sent"]) == list(counts["received"]) == [160, 160]
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert list(counts[name]) == [0, 0], name
    assert counts["disagreements"].isna().all()
    assert list(frames["outcomes"]["accepted"]) == [160, 160]
    assert (frames["latency"]["confirm_p50_s"] > 0).all()
    assert not {"lost", "record-disagrees"} & set(frames["doubts"]["kind"])
    rows = frames["node_metrics"]
    assert {*rows["kind"]} == {"collector", "memory", "node", "pool", "queue", "queues"}
    assert {*rows.loc[rows["kind"] == "memory", "object"]} == {"heap", "non-heap"}
    assert (frames["node_summary"]["paused_s"] >= 0).all()


@pytest.mark.usefixtures("artemis")
def test_receivers_that_start_late_get_all_waiting_messages(tmp_path: Path) -> None:
    """They attach links without credit first: every message waits, and then arrives."""
    text = PLAN.format("artemis").replace("[300, 200000]", "300\n  consume_after_s: 2")
    sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    frames = doubted(tmp_path)
    counts = frames["messages"].iloc[0]
    assert (counts["received"], counts["lost"]) == (counts["sent"], 0)
    assert all_due([counts["sent"]], 160)
    phases = frames["backlog"].set_index("backlog_phase")
    assert phases.loc["building", "throughput_msg_s"] == 0
    assert phases["waiting"].to_dict()["draining"] >= 40  # 80 without pauses
    assert "record-disagrees" not in set(frames["doubts"]["kind"])


def test_a_login_with_a_user_name_is_accepted(artemis: Deployment) -> None:
    """SASL PLAIN, at a broker that accepts every user."""
    connection = Connection(Broker((artemis.nodes[0].name,), "user", "secret", "/"))
    assert connection.close(5)


@pytest.mark.usefixtures("artemis")
def test_no_message_of_artemis_is_lost_at_full_speed(tmp_path: Path) -> None:
    """Pre-settled as well: a broker queues messages that it cannot deliver at once."""
    text = PLAN.format("artemis").replace("rate_msg_s: 40", "").replace("[300, 200000]", "256")
    text = text.replace("  links: 2", "  links: 2\n  settlement: [at-least-once, pre-settled]")
    sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    frames = tables.read(tmp_path)
    assert list(frames["runs"]["status"]) == ["done"] * 2
    counts = frames["messages"]
    assert (counts["received"] > 100).all()
    assert list(counts["received"]) == list(counts["sent"])
    assert pd.isna(counts["disagreements"]).all()
