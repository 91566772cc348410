"""Simulators of former OpenStack releases on the same RabbitMQ."""

from pathlib import Path

import pytest
from patience import DOUBTS_OF_A_BUSY_MACHINE
from samples import doubted

from mqperf.lab.load.oslo.releases import RELEASES
from mqperf.lab.runner import Silent, sweep
from mqperf.plan.file import parse_plan

pytestmark = [pytest.mark.needs_rabbitmq, pytest.mark.usefixtures("shared")]

OF_OPENSTACK = ("2024.1", "2025.1", "2026.1")
PLAN = f"""\
systems: {{rabbitmq: {{topologies: [cmsm], queues: [quorum]}}}}
test_cases: [rpc-call, notify]
load:
  generator: {{{", ".join(f"simulator-{each}: {{}}" for each in OF_OPENSTACK)}}}
  green_threads: 2
  pause_s: 0.05
  duration_s: 2
  warmup_s: 1
  cooldown_s: 0
"""


def test_every_message_is_accounted_for_by_every_release(tmp_path: Path) -> None:
    """In quorum queues, which their options enable; tables have the version of each release."""
    plan = parse_plan(PLAN, Path("releases.yaml"))
    assert sweep(plan, PLAN, tmp_path, Silent()).failed == ()
    frames = doubted(tmp_path)
    assert {*frames["doubts"]["kind"]} <= DOUBTS_OF_A_BUSY_MACHINE
    messages = frames["messages"]
    assert (messages["sent"] == messages["received"]).all()
    assert messages["disagreements"].isna().all()
    versions = frames["runs"].groupby("generator")["generator_version"].unique()
    assert {name: [*of] for name, of in versions.items()} == {
        f"simulator-{each}": [RELEASES[f"rabbitmq-{each}"].version] for each in OF_OPENSTACK
    }
