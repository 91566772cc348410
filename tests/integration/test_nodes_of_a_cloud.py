"""The traffic of compute nodes over a real RabbitMQ: every message is accounted for."""

from pathlib import Path

import pandas as pd
import pytest
from one_rabbitmq import used_by_sweeps
from patience import all_due
from samples import doubted

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.plan.file import parse_plan
from mqperf_openstack.plan.matrix import matrix

pytestmark = pytest.mark.needs_rabbitmq

NODES, PACE, LOAD_S = 12, 20, 5
PLAN = f"""\
systems: {{rabbitmq: {{topologies: [cmsm], queues: [classic, quorum]}}}}
test_cases: [publish]
load:
  generator: compute-nodes
  green_threads: 1
  processes: 2
  compute_nodes: {NODES}
  pace: {PACE}
  duration_s: 3
  warmup_s: 1
"""


@pytest.fixture(scope="module")
def frames(
    rabbitmq: PrivateCluster, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pd.DataFrame]:
    """Twelve nodes in two processes, at twenty times the default pace."""
    folder = tmp_path_factory.mktemp("nodes")
    with used_by_sweeps(rabbitmq):
        sweep(parse_plan(PLAN, Path("test.yaml")), PLAN, folder, Silent())
    return doubted(folder)


def test_every_message_is_accounted_for(frames: dict[str, pd.DataFrame]) -> None:
    """Calls, replies, casts and the copies of fan-outs: all due messages are sent and received."""
    counts = frames["messages"]
    assert list(frames["runs"]["status"]) == ["done"] * 2
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert list(counts[name]) == [0] * 2, name
    assert list(counts["sent"]) == list(counts["received"])
    due = matrix().deliveries_s(NODES) * PACE * LOAD_S  # on average
    assert all_due(counts["sent"], round(1.1 * due))
    assert counts["disagreements"].isna().all()


def test_latency_counts_from_when_a_message_was_due(frames: dict[str, pd.DataFrame]) -> None:
    """The service time excludes the client's own delay; percentiles are reported."""
    latency = frames["latency"]
    assert (latency["service_p50_s"] <= latency["latency_p50_s"] * 1.001).all()
    assert (frames["messages"]["handover_max_s"] > 0).all()
    assert frames["percentiles"]["percentile"].max() >= 0.9


def test_nodes_are_an_axis(frames: dict[str, pd.DataFrame]) -> None:
    """Their number and pace are columns of every run."""
    assert set(frames["runs"]["compute_nodes"]) == {NODES}
    assert set(frames["runs"]["pace"]) == {PACE}
