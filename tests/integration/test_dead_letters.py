"""Rejecting consumers on a real RabbitMQ: each message is accepted, dead-lettered, or lost."""

from functools import partial
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from one_rabbitmq import channel, master_of
from patience import all_due, eventually
from samples import doubted

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.plan.file import parse_plan
from mqperf_amqp_0_9_1.onhost.dead_letters import Strategy, arguments

pytestmark = [pytest.mark.needs_rabbitmq, pytest.mark.usefixtures("shared")]

PLAN = """\
systems: {{rabbitmq: {{topologies: [cmsm], queues: [{0}]}}}}
test_cases: [publish]
load: {{generator: amqp-0-9-1, green_threads: 2, channels: 2, duration_s: 2, warmup_s: 1,
        rate_msg_s: 400, confirms: 100, prefetch: 20, {1}}}
"""

STRATEGIES = get_args(Strategy)
"""``at-least-once`` comes last."""


def measured(folder: Path, queues: str, load: str) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """The tables of the runs, which all succeed, and rejections joined with messages."""
    text = PLAN.format(queues, load)
    sweep(parse_plan(text, Path("test.yaml")), text, folder, Silent())
    frames = doubted(folder)
    assert set(frames["runs"]["status"]) == {"done"}, frames["runs"]["failure"].to_list()
    assert frames["messages"]["disagreements"].isna().all(), frames["messages"]["disagreements"]
    rejections = frames["rejections"].set_index("run")
    messages = frames["messages"].set_index("run")[["sent", "deliveries", "received", "foreign"]]
    assert all_due(messages["sent"], 1600)
    return frames, rejections.join(messages)


def test_messages_die_of_rejections_and_none_is_lost(tmp_path: Path) -> None:
    """With two copies, either strategy and either mode of acknowledgement."""
    load = (
        "copies: 2, acks: [each, multiple], reject_share: 0.5, delivery_limit: 1,"
        " dead_letters: [at-most-once, at-least-once]"
    )
    frames, rows = measured(tmp_path, "quorum", load)
    assert len(rows) == 4
    assert (rows["accepted"] + rows["dead_lettered"] == 2 * rows["sent"]).all()
    assert (rows["rejected"] == rows["redelivered"] + rows["dead_lettered"]).all()
    assert rows[["lost", "foreign"]].eq(0).all(axis=None)
    assert (rows["dead_lettered"] / rows["deliveries"]).between(0.15, 0.35).all()
    assert not {"lost", "duplicates", "record-disagrees"} & set(frames["doubts"]["kind"])
    assert "dead-lettered" in set(frames["intervals"]["stream"])


def test_all_messages_die_where_all_deliveries_are_rejected(tmp_path: Path) -> None:
    """Each is delivered once more than the delivery limit."""
    load = "acks: multiple, reject_share: 1, delivery_limit: 2, dead_letters: at-least-once"
    _, rows = measured(tmp_path, "quorum", load)
    [row] = rows.to_dict("records")
    assert (row["accepted"], row["dead_lettered"], row["lost"]) == (0, row["sent"], 0)
    assert (row["rejected"], row["redelivered"]) == (3 * row["sent"], 2 * row["sent"])


def test_what_dies_without_a_queue_for_it_is_lost(tmp_path: Path) -> None:
    """The loss is a doubt about the run, and agrees with the record."""
    load = "acks: each, reject_share: 0.5, delivery_limit: 0"
    frames, rows = measured(tmp_path, "quorum", load)
    [row] = rows.to_dict("records")
    assert row["rejected"] == row["lost"] == row["sent"] - row["accepted"] > 0
    assert row["redelivered"] == row["dead_lettered"] == 0
    assert "lost" in set(frames["doubts"]["kind"])


def test_without_a_limit_messages_come_again_until_they_are_accepted(tmp_path: Path) -> None:
    """From classic queues and from quorum queues."""
    _, rows = measured(tmp_path, "classic, quorum", "acks: multiple, reject_share: 0.3")
    assert len(rows) == 2
    assert (rows["accepted"] == rows["sent"]).all()
    assert (rows["rejected"] == rows["redelivered"]).all()
    assert (rows["rejected"] > 0).all()


def test_queues_that_pass_on_at_least_once_do_so(rabbitmq: PrivateCluster) -> None:
    """RabbitMQ has a worker for each such queue, unless it falls back to at-most-once."""
    working = "proplists:get_value(workers, supervisor:count_children(rabbit_fifo_dlx_sup))"
    says_ok = rabbitmq._rabbitmqctl.says_ok
    with channel(master_of(rabbitmq)) as theirs:
        for number, strategy in enumerate(STRATEGIES):
            name = f"passes-on-{strategy}"
            further = {"x-queue-type": "quorum", **arguments(name, 1, strategy)}
            theirs.queue_declare(name, durable=True, arguments=further)
            assert eventually(partial(says_ok, "mqperf1@localhost", f"{number} = {working}, ok."))
        for strategy in STRATEGIES:
            theirs.queue_delete(f"passes-on-{strategy}")
