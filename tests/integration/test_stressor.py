"""The stressor and a real RabbitMQ: exact to the message, also when the broker is killed."""

from pathlib import Path

import pandas as pd
import psutil
import pytest
from killed import Killer
from one_rabbitmq import used_by_sweeps
from patience import DOUBTS_OF_A_BUSY_MACHINE, all_due
from samples import doubted

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.onhost.record.numbers import common, size
from mqperf.pages.questions import answers
from mqperf.pages.sections.forms import plain
from mqperf.plan.file import parse_plan, read_plan
from mqperf.record import runs
from mqperf.record.counts import read_counts
from mqperf.study import stats, tables
from mqperf.study.stats import checks
from mqperf_laboratory.hosts import Laboratory

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems: {{rabbitmq: {{topologies: [cmsm]}}}}
test_cases: [publish]
load: {{generator: amqp-0-9-1, duration_s: 2, warmup_s: 1, {0}}}
"""
ALONE = PLAN.replace("cmsm", "single")
"""The same with a single broker, for what a cluster adds nothing to."""

BODY = bytes(range(256)) * 1000
"""Longer than a frame, and not valid text."""
KINDS = ("direct", "topic", "fanout", "headers")


def measured(folder: Path, text: str, observer: Silent | None = None) -> dict[str, pd.DataFrame]:
    """The tables of the runs of a plan."""
    sweep(parse_plan(text, Path("test.yaml")), text, folder, observer or Silent())
    return doubted(folder)


@pytest.fixture(scope="module")
def paced(
    rabbitmq: PrivateCluster, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pd.DataFrame]:
    """All exchange types, two threads per connection, two copies, and many further options."""
    load = (
        "green_threads: 2, channels: 2, rate_msg_s: 400, copies: 2, confirms: 50, acks: multiple,"
        " prefetch: 100, unroutable: returned, delivery: persistent,"
        " exchange_type: [direct, topic, fanout, headers]"
    )
    with used_by_sweeps(rabbitmq):
        return measured(tmp_path_factory.mktemp("paced"), PLAN.format(load))


def test_every_delivery_is_accounted_for(paced: dict[str, pd.DataFrame]) -> None:
    """Four seconds of 400 messages, each delivered twice: all deliveries arrive."""
    counts = paced["messages"]
    assert list(paced["runs"]["status"]) == ["done"] * 4
    assert set(paced["runs"]["exchange_type"]) == set(KINDS)
    assert all_due(counts["sent"], 1600)
    assert list(counts["deliveries"]) == list(counts["received"]) == list(2 * counts["sent"])
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert list(counts[name]) == [0] * 4, name
    assert counts["disagreements"].isna().all()


def test_latency_has_its_parts(paced: dict[str, pd.DataFrame]) -> None:
    """Since due, since the handover, and until the confirm: no part exceeds its whole."""
    latency, counts = paced["latency"], paced["messages"]
    assert (latency["service_p50_s"] <= latency["latency_p50_s"] * 1.001).all()
    assert (latency["confirm_p50_s"] > 0).all()
    assert (counts["handover_max_s"] > 0).all()
    assert (counts["handover_max_s"] <= latency["latency_max_s"] * 1.001).all()


@pytest.mark.usefixtures("shared")
def test_an_unpaced_load_has_no_schedule(tmp_path: Path) -> None:
    """At full speed, in a quorum queue, each message acknowledged: nothing is lost."""
    load = "green_threads: 1, confirms: 100, acks: each, prefetch: 50, payload_bytes: 200000"
    text = PLAN.replace("[cmsm]", "[cmsm], queues: [quorum]").format(load)
    sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    frames = tables.read(tmp_path)
    row = frames["messages"].iloc[0]
    assert row["sent"] == row["received"] > 10
    assert (row["lost"], row["duplicates"]) == (0, 0)
    assert pd.isna(row["handover_p99_s"])
    assert pd.isna(frames["latency"]["service_p50_s"].iloc[0])


@pytest.mark.usefixtures("shared")
def test_a_ramp_is_judged_by_what_it_offers(tmp_path: Path) -> None:
    """The window offers the mean rate of the ramp; only a lower rate is a doubt.

    Both are planted: a pause at an end of the window moves messages of that moment past it.
    """
    load = "green_threads: 2, rate_msg_s: 200, ramp_to_msg_s: 1000"
    frames = measured(tmp_path, PLAN.format(load))
    [row] = frames["messages"].to_dict("records")
    assert row["sent"] == row["received"] == 2400
    assert row["offered_rate_msg_s"] == 600
    for share, missed in ((0.995, False), (0.97, True)):
        frames["messages"]["send_rate_msg_s"] = share * 600
        assert ("rate-missed" in set(checks.doubts(frames)["kind"])) == missed


@pytest.mark.usefixtures("shared")
def test_a_count_is_sent_in_steps_with_confirms(tmp_path: Path) -> None:
    """400 messages a second for two seconds, then 800: the rest is sent in half a second."""
    load = (
        "green_threads: 2, channels: 2, rate_msg_s: 400, ramp_to_msg_s: 800, ramp_steps: 2,"
        " message_count: 1201, confirms: 50"
    )
    frames = measured(tmp_path, PLAN.format(load))
    [run], [row] = (frames[name].to_dict("records") for name in ("runs", "messages"))
    assert (row["sent"], row["received"]) == (1201, 1201)
    assert run["all_sent_s"] > 2.4  # none was sent before it was due
    assert run["window_s"] >= 1.0
    assert row["offered_rate_msg_s"] >= 400
    assert not {"count-missed", "short-window"} & set(frames["doubts"]["kind"])


@pytest.mark.usefixtures("shared")
def test_cycles_are_offered_step_by_step(tmp_path: Path) -> None:
    """Two seconds at 100, one at 700: the window has their mean rate, and no doubt."""
    load = "green_threads: 2, channels: 2, confirms: 900, rate_cycle: 2 s at 100 then 1 s at 700"
    frames = measured(tmp_path, PLAN.format(load).replace("duration_s: 2", "duration_s: 3"))
    [row] = frames["messages"].to_dict("records")
    assert (row["sent"], row["received"], row["offered_rate_msg_s"]) == (1100, 1100, 300)
    steps = frames["rate_cycles"]
    assert steps["step_rate_msg_s"].tolist() == [100, 700, 100]
    assert steps["from_s"].tolist() == [0, 1, 2]
    assert steps["cycle"].tolist() == [1, 1, 2]
    assert set(frames["doubts"]["kind"]) <= DOUBTS_OF_A_BUSY_MACHINE
    [answer] = answers(stats.complete(tables.read(tmp_path)), ["cycles"])
    assert "at 700 msg/sec for 1 s of every 3 s, " in plain(answer.sentences[0])


@pytest.mark.usefixtures("shared")
def test_messages_of_several_lengths_are_accounted_for(tmp_path: Path) -> None:
    """At full speed, exactly; the network carried the bytes of their mean length."""
    mix = "payload_mix: 80 % of 64 + 19 % of 5000 + 1 % of 300000"
    load = "green_threads: 2, channels: 2, confirms: 50, acks: multiple, copies: 2"
    frames = measured(tmp_path, PLAN.format(f"{load}, {mix}"))
    [row] = frames["messages"].to_dict("records")
    assert list(frames["runs"]["payload_bytes"]) == [4001]
    assert row["received"] == 2 * row["sent"] > 200
    assert not any(row[name] for name in ("lost", "duplicates", "foreign", "errors", "reordered"))
    assert "network-bytes" not in set(frames["doubts"]["kind"])


@pytest.fixture(scope="module")
def remote_runs(five_hosts: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred messages between separate hosts, with bodies from a file of the controller."""
    folder = tmp_path_factory.mktemp("far")
    (folder / "body.bin").write_bytes(BODY)
    load = "green_threads: 2, rate_msg_s: 40, message_count: 100, copies: 2, acks: multiple"
    text = ALONE.replace("duration_s: 2", "duration_s: 60").format(
        f"{load}, confirms: 20, payload_file: body.bin"
    )
    (folder / "plan.yaml").write_text(text)
    given = read_plan(folder / "plan.yaml", problems_of)
    place = str(five_hosts.inventory)
    assert not sweep(given.plan, given.text, folder / "runs", Silent(), hosts=place).failed
    return folder / "runs"


def test_clients_and_servers_on_hosts_of_their_own(remote_runs: Path) -> None:
    """Every delivery is accounted for; hosts on one machine share its clock."""
    frames = tables.read(remote_runs)
    [row] = frames["messages"].to_dict("records")
    assert (row["sent"], row["deliveries"], row["received"]) == (100, 200, 200)
    assert row["lost"] == row["duplicates"] == row["foreign"] == 0
    assert frames["latency"]["latency_uncertainty_s"].eq(0).all()


def test_a_body_out_of_a_file_is_shipped_to_its_hosts(remote_runs: Path) -> None:
    """The record has its name, length and hash, and no path of the controller."""
    [described] = tables.read(remote_runs)["runs"].to_dict("records")
    assert described["payload_bytes"] == len(BODY)
    assert described["payload_file"].startswith(f"body.bin ({len(BODY)} bytes, sha256 ")
    for file in remote_runs.rglob("*.json"):
        assert "body.bin" not in file.read_text() or str(remote_runs.parent) not in file.read_text()


def is_broker(process: psutil.Process) -> bool:
    """Whether the process is the broker that clients use."""
    return process.environ().get("RABBITMQ_NODENAME") == "mqperf1@localhost"


def test_a_broker_killed_under_flow_fails_the_point_with_its_loss(tmp_path: Path) -> None:
    """There is no figure, but the exact record of sent and received messages is kept."""
    frames = measured(tmp_path, ALONE.format("green_threads: 1"), Killer(is_broker))
    [failure] = frames["runs"]["failure"]
    assert failure.startswith("RabbitMQ's Broker was killed by signal 9")
    assert len(frames["messages"]) == 0
    [run] = runs(tmp_path)
    client, server = (
        read_counts(run.path / f"load/{kind}-1.counts") for kind in ("client", "server")
    )
    sent = client.numbers["sent"]["client-1.1"]
    got = server.numbers["received"]["client-1.1"]
    assert sent.ranges.tolist() == [[0, client.streams["sent"].count - 1]]
    assert got.reordered == len(got.again) == 0
    lost = size(sent.ranges) - common(sent.ranges, got.ranges)
    assert 0 < lost == sent.count - got.count


@pytest.mark.usefixtures("shared")
def test_an_exchange_of_another_type_ends_the_run(tmp_path: Path) -> None:
    """The failure has the message of the broker."""
    text = PLAN.format("green_threads: 1, exchange: amq.direct, exchange_type: topic")
    sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    [failure] = tables.read(tmp_path)["runs"]["failure"]
    assert "server-1 died with exit code 1" in failure
    assert "inequivalent arg 'type' for exchange 'amq.direct'" in failure


@pytest.mark.usefixtures("shared")
def test_every_delivery_out_of_a_stream_is_accounted_for(tmp_path: Path) -> None:
    """Two copies at a rate, in both modes of acknowledgement: each arrives once, in order."""
    load = "green_threads: 2, copies: 2, confirms: 100, acks: [each, multiple], prefetch: 50"
    text = PLAN.replace("[cmsm]", "[cmsm], queues: [stream]").format(f"{load}, rate_msg_s: 400")
    sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    frames = doubted(tmp_path)
    counts = frames["messages"]
    assert list(frames["runs"]["status"]) == ["done"] * 2
    assert set(frames["runs"]["queues"]) == {"stream"}
    assert all_due(counts["sent"], 1600)
    assert list(counts["received"]) == list(2 * counts["sent"])
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert list(counts[name]) == [0] * 2, name
