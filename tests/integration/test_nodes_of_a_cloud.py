"""The traffic of compute nodes over a real RabbitMQ: every message of every node accounted for."""

from pathlib import Path

import pandas as pd
import pytest
from one_rabbitmq import lent
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
def found(
    rabbitmq: PrivateCluster, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pd.DataFrame]:
    """Twelve nodes in two processes, twenty times as often as by default."""
    folder = tmp_path_factory.mktemp("nodes")
    with lent(rabbitmq):
        sweep(parse_plan(PLAN, Path("test.yaml")), PLAN, folder, Silent())
    return doubted(folder)


def test_every_message_is_accounted_for(found: dict[str, pd.DataFrame]) -> None:
    """Calls, replies, casts and the copies of fan-outs: all that was due was sent and came."""
    counts = found["messages"]
    assert list(found["runs"]["status"]) == ["done"] * 2
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert list(counts[name]) == [0] * 2, name
    assert list(counts["sent"]) == list(counts["received"])
    due = matrix().deliveries_s(NODES) * PACE * LOAD_S  # on average
    assert all_due(counts["sent"], round(1.1 * due))
    assert counts["disagreements"].isna().all()


def test_latency_counts_from_when_a_message_was_due(found: dict[str, pd.DataFrame]) -> None:
    """The service time is what is left without the client's own delay; percentiles are told."""
    latency = found["latency"]
    assert (latency["service_p50_s"] <= latency["latency_p50_s"] * 1.001).all()
    assert (found["messages"]["handover_max_s"] > 0).all()
    assert found["percentiles"]["percentile"].max() >= 0.9


def test_nodes_are_an_axis(found: dict[str, pd.DataFrame]) -> None:
    """Their number and pace are columns of every run."""
    assert set(found["runs"]["compute_nodes"]) == {NODES}
    assert set(found["runs"]["pace"]) == {PACE}
