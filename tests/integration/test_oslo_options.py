"""Options of oslo.messaging's drivers: the recorded table, and runs with them on RabbitMQ."""

from pathlib import Path

import driver_options
import pytest
from one_rabbitmq import used_by_sweeps
from patience import DOUBTS_OF_A_BUSY_MACHINE
from samples import doubted

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.plan import driver
from mqperf.plan.file import parse_plan
from mqperf.study.tables import Tables

SHARED_MEMORY = Path("/dev", "shm")
PLAN = """\
systems: {rabbitmq: {topologies: [cmsm], queues: [declared]}}
test_cases: [rpc-fanout]
load:
  green_threads: 1
  processes: 2
  targets: shared
  pause_s: 0.02
  duration_s: 2
  warmup_s: 1
  cooldown_s: 0
  driver:
    defaults: {}
    streams:
      rabbit_stream_fanout: true
      rabbit_transient_quorum_queue: true
      rabbit_qos_prefetch_count: 10
      use_queue_manager: true
"""
COUNTED = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [rpc-call]
load: {green_threads: 2, pause_s: 0.05, message_count: 75, duration_s: 60, warmup_s: 0}
"""


def measured(rabbitmq: PrivateCluster, text: str, folder: Path) -> Tables:
    """The tables of a plan; all its runs succeed, with only the doubts of a busy machine."""
    with used_by_sweeps(rabbitmq):
        outcome = sweep(parse_plan(text, Path("options.yaml")), text, folder, Silent())
    assert outcome.failed == ()
    frames = doubted(folder)
    assert {*frames["doubts"]["kind"]} <= DOUBTS_OF_A_BUSY_MACHINE
    return frames


def test_the_table_says_what_the_libraries_say() -> None:
    """If it fails, renew the table: ``.venv/bin/python tests/driver_options.py``."""
    table = Path(driver.__file__).with_name("driver_options.json").read_text()
    assert table == driver_options.text()


@pytest.mark.needs_rabbitmq
def test_deliveries_of_a_fan_out_are_accounted_for(
    rabbitmq: PrivateCluster, tmp_path: Path
) -> None:
    """With queues and with streams: each server gets each message once; no file is left."""
    before = {*SHARED_MEMORY.glob("*_server-*_qmanager")}
    frames = measured(rabbitmq, PLAN, tmp_path)
    messages = frames["messages"].merge(frames["runs"][["run", "driver", "rabbit_stream_fanout"]])
    assert messages["driver"].tolist() == ["defaults", "streams"]
    assert messages["rabbit_stream_fanout"].isna().tolist() == [True, False]
    assert (messages["deliveries"] == 2 * messages["sent"]).all()
    assert (messages["received"] == messages["deliveries"]).all()
    assert not messages[["lost", "duplicates", "foreign", "errors"]].to_numpy().any()
    assert {*SHARED_MEMORY.glob("*_server-*_qmanager")} <= before


@pytest.mark.needs_rabbitmq
def test_a_load_of_the_simulator_ends_with_its_count(
    rabbitmq: PrivateCluster, tmp_path: Path
) -> None:
    """Long before its duration, with exactly this many messages and the figures of a window."""
    frames = measured(rabbitmq, COUNTED, tmp_path)
    [run] = frames["runs"].to_dict("records")
    assert frames["messages"]["sent"].tolist() == [75]
    assert run["message_count"] == 75
    assert 37 * 0.05 < run["all_sent_s"] < 60
