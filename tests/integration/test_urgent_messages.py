"""Urgent messages in queues of a real RabbitMQ overtake, and every message is accounted for."""

from pathlib import Path

import pytest
from patience import all_due
from samples import doubted

from mqperf.lab.runner import Silent, sweep
from mqperf.plan.file import parse_plan

pytestmark = [pytest.mark.needs_rabbitmq, pytest.mark.usefixtures("shared")]

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm], queues: [classic, quorum]}}
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: 2, duration_s: 2, warmup_s: 1, rate_msg_s: 4000,
       payload_mix: 90 % of 256 + 10 % of 2000, acks: multiple, prefetch: 10, urgent_share: 0.2,
       consume_after_s: 2}
"""


def test_urgent_messages_overtake_and_none_is_lost(tmp_path: Path) -> None:
    """Queues are full when consumers start; quorum queues of RabbitMQ 3 have no priorities."""
    outcome = sweep(parse_plan(PLAN, Path("test.yaml")), PLAN, tmp_path, Silent())
    frames = doubted(tmp_path)
    version = int(frames["runs"]["system_version"].dropna().iloc[0].partition(".")[0])
    refused = [reason for _, reason in outcome.failed]
    assert len(refused) == (version < 4)
    assert all("have no priorities" in reason for reason in refused)
    messages = frames["messages"].query("sent > 0")
    assert all_due(messages["sent"], 16_000)
    assert (messages["sent"] == messages["received"]).all()
    assert messages["disagreements"].isna().all()
    for _, rows in frames["priorities"].groupby("run"):
        latency = rows.set_index("urgency")["latency_p50_s"]
        assert latency["urgent"] < latency["usual"]
