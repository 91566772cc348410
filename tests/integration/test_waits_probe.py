"""The probe ``waits`` beside a real RabbitMQ, and the causes found for a prefetch of one."""

from pathlib import Path

import pytest
from one_rabbitmq import channel, master_of, used_by_sweeps

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.plan.file import parse_plan
from mqperf.study import stats, tables
from mqperf_diagnosis.onhost.erlang import MOST_ASKED

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [publish]
probes: [waits]
load:
  generator: amqp-0-9-1
  green_threads: 1
  acks: each
  prefetch: 1
  rate_msg_s: 50
  duration_s: 3
  warmup_s: 1
  cooldown_s: 1
"""
OUTSIDE = {"host full", "neighbour on the host", "slow consumer", "small prefetch"}
"""Causes that other work on the machine may add, also by making a server wait for a core."""


def test_a_node_is_observed_from_outside(rabbitmq: PrivateCluster, tmp_path: Path) -> None:
    """Its queue has one consumer with at most one message; nothing of the node is saturated.

    There are many more idle queues than the probe asks about.
    """
    with used_by_sweeps(rabbitmq), channel(master_of(rabbitmq)) as theirs:
        for number in range(10 * MOST_ASKED):
            theirs.queue_declare(f"idle-{number}", exclusive=True)
        outcome = sweep(parse_plan(PLAN, Path("causes.yaml")), PLAN, tmp_path, Silent())
    assert outcome.failed == ()
    complete = stats.complete(tables.read(tmp_path))
    waits = complete["waits"]
    seen = waits.groupby(["process", "quantity"])["value"].max()
    assert seen["Master", "seconds seen"] >= 1
    assert seen["Master", "queue running"] <= 1
    [run] = waits["run"].unique()
    queue = waits[waits["object"].str.startswith(run)].set_index("quantity")["value"]
    assert queue["consumers"] == 1
    assert queue["unacked"] <= 1
    assert seen["client-1", "used"] > 0
    assert set(complete["causes"]["cause"]) <= OUTSIDE
