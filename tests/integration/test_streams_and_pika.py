"""The RabbitMQ stream protocol on a real broker; pika checks independently."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from load_by_hand import Flow, job_of
from one_rabbitmq import PikaChannel, channel, master_of
from samples import doubted

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import PrivateCluster, private_cluster
from mqperf.lab.systems.rabbitmq.settings import parse_settings
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf_numbered.onhost.stamps import SIZE, STAMP, Stamps
from mqperf_streams.lab.super_streams import super_streams
from mqperf_streams.onhost.murmur import murmur3

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems: {rabbitmq: {topologies: [single], queues: [stream], settings: {SETTINGS}}}
test_cases: [publish]
load:
  generator: GENERATOR
  green_threads: 2
  rate_msg_s: 400
  consume_after_s: 2
  confirms: 2000
  duration_s: 3
  warmup_s: 1
"""
BOTH = "{rabbitmq-stream: {partitions: [1, 3]}, amqp-0-9-1: {acks: multiple}}"


@pytest.fixture(scope="module")
def broker() -> Iterator[PrivateCluster]:
    host, settings = LocalHost(), parse_settings({"streams": True})
    with (
        host.scratch("test-streams") as folder,
        private_cluster(settings, [HostFolder(host, folder)], nodes=1) as deployment,
    ):
        yield deployment


@pytest.fixture(scope="module")
def theirs(broker: PrivateCluster) -> Iterator[PikaChannel]:
    with channel(master_of(broker)) as pika_channel:
        yield pika_channel


def test_a_replay_is_accounted_for_to_the_message(tmp_path: Path) -> None:
    """With and without TLS: confirmed, received once, in order, from the first message on.

    A super stream and AMQP 0-9-1 give the same, side by side.
    """
    text = PLAN.replace("SETTINGS", "streams: true, tls: [false, true]")
    text = text.replace("GENERATOR", BOTH)
    outcome = sweep(parse_plan(text, Path("streams.yaml")), text, tmp_path, Silent())
    assert outcome.failed == ()
    frames = doubted(tmp_path)
    runs, counts = frames["runs"], frames["messages"]
    assert sorted(runs["generator"]) == [*["amqp-0-9-1"] * 2, *["rabbitmq-stream"] * 4]
    assert runs["generator_version"].notna().all()
    assert list(counts["sent"]) == list(counts["received"]) == [2000] * 6
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert list(counts[name]) == [0] * 6, name
    assert counts["disagreements"].isna().all()
    phases = frames["backlog"]
    building, draining = (phases["backlog_phase"].eq(name) for name in ("building", "draining"))
    assert phases.loc[building, "throughput_msg_s"].eq(0).all()
    assert phases.loc[draining, "waiting"].between(400, 840).all()  # 800 without pauses
    assert building.sum() == draining.sum() == 6
    assert (frames["latency"]["confirm_p50_s"] > 0).all()


def test_without_the_plugin_the_error_names_the_setting(tmp_path: Path) -> None:
    """The run fails at once instead of waiting for a port on which nothing listens."""
    text = PLAN.replace("SETTINGS", "streams: false").replace("GENERATOR", "rabbitmq-stream")
    [(_, why)] = sweep(parse_plan(text, Path("streams.yaml")), text, tmp_path, Silent()).failed
    assert "set settings: {streams: true} of rabbitmq in the plan" in why


def flow_on(broker: PrivateCluster, folder: Path, count: int = 200, partitions: int = 1) -> Flow:
    """A load of this many messages, in the default virtual host of the broker."""
    case = Case.model_validate(
        {
            "system": "rabbitmq",
            "topology": "single",
            "queues": "stream",
            "test_case": "publish",
            "generator": "rabbitmq-stream",
            "green_threads": 1,
            "duration_s": 5,
            "parameters": {
                "message_count": count,
                "payload_bytes": 500,
                "partitions": partitions,
            },
        }
    )
    inner = broker._cluster
    end = Endpoint("stream", (inner.addresses(0)["stream"],), "mqperf", inner.secrets.password, "/")
    return Flow(job_of(case, folder, Access(end, end)))


def read(theirs: PikaChannel, stream: str, count: int) -> list[bytes]:
    """This many bodies, from the first one on."""
    theirs.basic_qos(prefetch_count=300)
    bodies: list[bytes] = []
    arguments = {"x-stream-offset": "first"}
    for method, _, body in theirs.consume(stream, arguments=arguments, inactivity_timeout=20):
        assert method is not None, f"only {len(bodies)} came"
        theirs.basic_ack(method.delivery_tag)
        bodies.append(body)
        if len(bodies) == count:
            break
    theirs.cancel()
    return bodies


def stamps_of(bodies: list[bytes]) -> Stamps:
    return np.frombuffer(b"".join(body[:SIZE] for body in bodies), STAMP)


def test_pika_reads_what_was_published(
    broker: PrivateCluster, theirs: PikaChannel, tmp_path: Path
) -> None:
    """From the first message on, over AMQP 0-9-1: each body once, in order, with its length."""
    flow, stream = flow_on(broker, tmp_path), f"{tmp_path.name}.000001"
    with flow:
        flow.start("client-1")
        flow.begin()
        flow.end()
    bodies = read(theirs, stream, 200)
    assert {len(body) for body in bodies} == {500}
    assert stamps_of(bodies)["number"].tolist() == [*range(200)]


def test_pika_finds_each_partition_with_its_messages(
    broker: PrivateCluster, theirs: PikaChannel, tmp_path: Path
) -> None:
    """Partitions of a super stream are numbered from 0, and keys select the partition."""
    flow, name = flow_on(broker, tmp_path, 5_000, 3), f"{tmp_path.name}.000001"
    declared = super_streams([name], 3)
    for queue in declared["queues"]:
        theirs.queue_declare(queue["name"], durable=True, arguments=queue["arguments"])
    theirs.exchange_declare(name, durable=True, arguments=declared["exchanges"][0]["arguments"])
    for each in declared["bindings"]:
        theirs.queue_bind(each["destination"], name, each["routing_key"], each["arguments"])
    with flow:
        flow.start("client-1")
        flow.begin()
        flow.end()
    places = [murmur3(str(key).encode()) % 3 for key in range(1_000)]
    for place in range(3):
        count = 5 * places.count(place)
        stamps = stamps_of(read(theirs, f"{name}-{place}", count))
        assert stamps["number"].tolist() == [*range(count)]
        assert set(stamps["sender"]) == {place}


def test_what_pika_publishes_is_foreign(
    broker: PrivateCluster, theirs: PikaChannel, tmp_path: Path
) -> None:
    """It is received beside messages of the run, and counted as foreign."""
    flow, stream = flow_on(broker, tmp_path), f"{tmp_path.name}.000001"
    with flow:
        flow.start("server-1")
        theirs.basic_publish("", stream, b"from elsewhere")
        flow.start("client-1")
        flow.begin()
        flow.end()
    received = flow.counts("server-1")
    assert received.streams["received"].count == 201
    assert {*received.numbers["received"]} == {"stranger", "client-1.1"}
