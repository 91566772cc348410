"""The stressor and disturbances of its RabbitMQ connections: every message is accounted for."""

import hashlib
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from load_by_hand import Flow, await_instant, job_of
from one_rabbitmq import PikaChannel, channel, close_connections, evaluate, master_of
from patience import eventually

from mqperf.hosts import Process
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.onhost.record.numbers import common, size
from mqperf.plan import Case
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost import connection as wire
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.broker import Broker, Lost

pytestmark = pytest.mark.needs_rabbitmq


@pytest.fixture(scope="module")
def broker(rabbitmq: PrivateCluster) -> Broker:
    return master_of(rabbitmq)


@pytest.fixture(scope="module")
def theirs(broker: Broker) -> Iterator[PikaChannel]:
    with channel(broker) as pika_channel:
        yield pika_channel


CASE = {
    "system": "rabbitmq",
    "topology": "cmsm",
    "queues": "classic",
    "test_case": "publish",
    "generator": "amqp-0-9-1",
    "green_threads": 1,
    "warmup_s": 0,
    "cooldown_s": 0,
}


class Disturbed(Flow):
    """A client and a server that run for 5 s, or until ``count`` messages are sent.

    The client connects to ``at``, if given.
    """

    queues = "classic"
    files: Mapping[str, bytes] = MappingProxyType({})

    def __init__(
        self,
        folder: Path,
        broker: Broker,
        parameters: dict[str, object],
        count: int | None = None,
        at: str | None = None,
    ) -> None:
        load = {"duration_s": 5, "parameters": parameters}
        if count is not None:
            load = {"duration_s": 60, "parameters": {**parameters, "message_count": count}}
        case = Case.model_validate({**CASE, **load, "queues": self.queues})
        end = Endpoint("amqp-0-9-1", tuple(broker.addresses), "mqperf", broker.password, "/")
        end = replace(end, authority=broker.authority)
        client = end if at is None else replace(end, addresses=(at,))
        job = job_of(case, folder, Access(client, end))
        super().__init__(replace(job, files=self.files))

    def run(self, disturb: Callable[[], None], refused: str | None = None) -> None:
        """Disturb after two seconds; the ``refused`` process fails, the other does not."""
        with self:
            for label in self.commands:
                self.start(label)
            begin = self.begin()
            await_instant(begin + 2)
            disturb()
            self.end(refused)


class StreamFlow(Disturbed):
    """The same load through a stream."""

    queues = "stream"


BODY = bytes(range(256)) * 1000
"""Longer than a frame, and not valid text."""

NAME = f"body.bin ({len(BODY)} bytes, sha256 {hashlib.sha256(BODY).hexdigest()[:16]})"


class FileBodyFlow(Disturbed):
    """The same load with a body from a file."""

    files = MappingProxyType({NAME: BODY})


def watermark(value: str) -> str:
    """The expression that sets the memory watermark of the broker."""
    return f"vm_memory_monitor:set_vm_memory_high_watermark({value}), ok."


def test_after_a_lost_connection_every_message_is_accounted_for(
    rabbitmq: PrivateCluster, broker: Broker, tmp_path: Path
) -> None:
    """Both reconnect; no confirmed message is lost, and the numbers sent have no gap."""
    parameters = {"rate_msg_s": 1000.0, "confirms": 500, "acks": "multiple"}
    flow = Disturbed(tmp_path, broker, parameters, count=4000)
    flow.run(lambda: close_connections(rabbitmq))
    sent, confirmed = flow.numbers_after_reconnection()
    unconfirmed = size(sent.ranges) - size(confirmed.ranges)
    assert flow.diary("client-1")["counts"]["unconfirmed"] == unconfirmed
    assert size(sent.ranges) == 4000


def test_a_lost_consumer_of_a_stream_goes_on_where_it_was(
    rabbitmq: PrivateCluster, broker: Broker, tmp_path: Path
) -> None:
    """A stream keeps delivered messages: none is delivered again, and none is skipped."""
    parameters = {"rate_msg_s": 1000.0, "confirms": 500, "acks": "multiple", "prefetch": 100}
    flow = StreamFlow(tmp_path, broker, parameters, count=4000)
    flow.run(lambda: close_connections(rabbitmq))
    sent, _ = flow.numbers_after_reconnection()
    got = flow.counts("server-1").numbers["received"]["client-1.1"]
    assert len(got.again) == got.reordered == 0
    assert size(sent.ranges) == 4000


def test_a_broker_that_blocks_publishers_is_noted(
    rabbitmq: PrivateCluster, broker: Broker, tmp_path: Path
) -> None:
    """The reason and both instants are recorded; messages meanwhile are late, none is lost."""

    def raise_alarm() -> None:
        evaluate(rabbitmq, watermark("0.00001"))
        time.sleep(1)
        evaluate(rabbitmq, watermark('{absolute, "1024MB"}'))

    flow = Disturbed(tmp_path, broker, {"rate_msg_s": 100.0}, count=600)
    flow.run(raise_alarm)
    blocked, unblocked = flow.diary("client-1")["events"]
    assert (blocked["what"], unblocked["what"]) == ("blocked", "unblocked")
    assert "memory" in blocked["why"]
    client, server = flow.counts("client-1"), flow.counts("server-1")
    assert client.streams["sent"].count == server.streams["received"].count == 600
    pause = unblocked["time"] - blocked["time"]
    late, latency = client.streams["handover"].summary(), server.streams["received"].summary()
    assert late is not None
    assert latency is not None
    assert min(late.max_s, latency.max_s) > 0.5 * pause > 0.2


def declared(flow: Flow) -> tuple[str, str, str]:
    """The exchange, the queue and the routing key of the flow's only thread."""
    [thread] = flow.orders("client-1")["threads"]
    return thread["exchange"], thread["queues"][0], thread["routing_key"]


def keep_exchange(theirs: PikaChannel, flow: Flow) -> None:
    """Bind another queue: an exchange without bindings is deleted, which ends the client."""
    name = f"{flow.job.run_id}.direct"
    theirs.exchange_declare(name, "direct", durable=True, auto_delete=True)
    theirs.queue_declare(f"{name}.beside", exclusive=True)
    theirs.queue_bind(f"{name}.beside", name, "another")


def test_unroutable_messages_are_returned_and_counted(
    broker: Broker, theirs: PikaChannel, tmp_path: Path
) -> None:
    """By number: each message is either received or returned."""
    parameters = {"rate_msg_s": 500.0, "unroutable": "returned"}
    flow = Disturbed(tmp_path, broker, parameters, count=2500)

    def unbind() -> None:
        exchange, queue, key = declared(flow)
        theirs.queue_unbind(queue, exchange, key)
        time.sleep(1)
        theirs.queue_bind(queue, exchange, key)

    keep_exchange(theirs, flow)
    flow.run(unbind)
    client, server = flow.counts("client-1"), flow.counts("server-1")
    sent, returned = (client.numbers[name]["client-1.1"] for name in ("sent", "error"))
    got = server.numbers["received"]["client-1.1"]
    assert flow.diary("client-1")["counts"]["returned"] == size(returned.ranges) > 100
    assert common(got.ranges, returned.ranges) == 0
    assert size(got.ranges) + size(returned.ranges) == size(sent.ranges) == 2500


def test_a_body_out_of_a_file_arrives_to_the_byte(
    broker: Broker, theirs: PikaChannel, tmp_path: Path
) -> None:
    """pika receives the same bytes; the server accounts for every delivery."""
    flow = FileBodyFlow(tmp_path, broker, {"rate_msg_s": 20.0, "payload_file": NAME}, count=100)
    seen: list[bytes] = []

    def read_copy() -> None:
        exchange, _, key = declared(flow)
        beside = theirs.queue_declare("", exclusive=True).method.queue
        theirs.queue_bind(beside, exchange, key)
        limit = time.monotonic() + 10
        while not seen and time.monotonic() < limit:
            _, _, body = theirs.basic_get(beside, auto_ack=True)
            seen.extend([body] if body is not None else [])

    flow.run(read_copy)
    assert seen == [BODY]
    sent = flow.counts("client-1").numbers["sent"]["client-1.1"]
    got = flow.counts("server-1").numbers["received"]["client-1.1"]
    assert size(sent.ranges) == size(got.ranges) == 100
    assert common(sent.ranges, got.ranges) == 100


def test_messages_that_expire_are_lost_by_number(broker: Broker, tmp_path: Path) -> None:
    """Expired messages never arrive, and all later messages do."""
    parameters = {"rate_msg_s": 500.0, "ttl_ms": 100, "acks": "each", "prefetch": 20}
    flow = Disturbed(tmp_path, broker, parameters, count=5000)

    def suspend_server() -> None:
        flow.processes["server-1"].send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        flow.processes["server-1"].send_signal(signal.SIGCONT)

    flow.run(suspend_server)
    sent = flow.counts("client-1").numbers["sent"]["client-1.1"]
    got = flow.counts("server-1").numbers["received"]["client-1.1"]
    assert common(got.ranges, sent.ranges) == size(got.ranges)
    assert size(sent.ranges) - size(got.ranges) > 100
    assert got.ranges.max() > 2000  # sent after the server was resumed
    assert len(got.again) == got.reordered == 0


def test_a_queue_deleted_under_its_consumer_ends_the_server(
    broker: Broker, theirs: PikaChannel, tmp_path: Path
) -> None:
    """The error names the queue; the record of received messages is kept."""
    flow = Disturbed(tmp_path, broker, {"rate_msg_s": 500.0})
    keep_exchange(theirs, flow)
    flow.run(lambda: theirs.queue_delete(declared(flow)[1]), "server-1")
    queue = declared(flow)[1]
    assert f"the broker cancelled the consumer of queue {queue}" in flow.stderr("server-1")
    assert flow.counts("server-1").streams["received"].count > 0


def test_a_channel_that_the_broker_closes_ends_the_client(
    broker: Broker, theirs: PikaChannel, tmp_path: Path
) -> None:
    """With the message of the broker; the record of sent messages is kept."""
    flow = Disturbed(tmp_path, broker, {"rate_msg_s": 500.0})
    flow.run(lambda: theirs.exchange_delete(declared(flow)[0]), "client-1")
    assert "NOT_FOUND - no exchange" in flow.stderr("client-1")
    assert flow.counts("client-1").streams["sent"].count > 0


class FlowProxy:
    """A proxy to RabbitMQ that tells clients to pause, which RabbitMQ itself never does."""

    def __init__(self, server: socket.socket, broker: Broker) -> None:
        self.server, self.broker = server, broker
        self.passed = 0

    def serve(self) -> None:
        """Forward everything between one client and the broker, except replies to the proxy."""
        self.client = self.server.accept()[0]
        host, _, port = self.broker.addresses[0].rpartition(":")
        self.behind = socket.create_connection((host, int(port)))
        back = threading.Thread(target=self._back)
        back.start()
        answers = [codec.method(1, codec.FLOW_OK, bytes([active])) for active in (0, 1)]
        with suppress(OSError), self.client, self.behind:
            while data := self.client.recv(1 << 16):
                for answer in answers:
                    data = data.replace(answer, b"")
                self.passed += len(data)
                self.behind.sendall(data)
            self.behind.shutdown(socket.SHUT_WR)
            back.join()

    def idle(self, seconds: float) -> bool:
        """Whether nothing passes for this long, in which a client would send many messages."""
        before = self.passed
        time.sleep(seconds)
        return self.passed == before

    def tell(self, *, active: bool) -> None:
        """Send ``channel.flow`` to the client, between two frames of the broker."""
        self.client.sendall(codec.method(1, codec.FLOW, bytes([active])))

    def _back(self) -> None:
        with suppress(OSError):
            while data := self.behind.recv(1 << 16):
                self.client.sendall(data)


def test_a_client_pauses_as_long_as_it_is_told_to(broker: Broker, tmp_path: Path) -> None:
    """After ``channel.flow`` nothing is sent; later everything is, and nothing is lost."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        proxy, quiet = FlowProxy(server, broker), []
        serving = threading.Thread(target=proxy.serve)
        serving.start()

        def pause() -> None:
            proxy.tell(active=False)
            quiet.append(eventually(lambda: proxy.idle(0.7)))
            proxy.tell(active=True)

        at = f"127.0.0.1:{server.getsockname()[1]}"
        flow = Disturbed(tmp_path, broker, {"rate_msg_s": 500.0}, count=2500, at=at)
        flow.run(pause)
        serving.join(10)
    assert quiet == [True]
    events = [(event["what"], event["active"]) for event in flow.diary("client-1")["events"]]
    assert events == [("flow", False), ("flow", True)]
    late = flow.counts("client-1").streams["handover"].summary()
    assert late is not None
    assert late.max_s > 0.5
    received = flow.counts("server-1").streams["received"]
    assert received.count == flow.counts("client-1").streams["sent"].count == 2500


def test_a_broker_that_falls_silent_is_given_up(
    rabbitmq: PrivateCluster, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With heartbeats an idle connection lasts; without them it is considered lost."""
    monkeypatch.setattr(wire, "HEARTBEAT_S", 1)
    ours = Connection(broker)
    ours.flowing()
    keep_alive_for(ours, 4.0)
    process = rabbitmq.nodes[0].process
    assert isinstance(process, Process)
    process.suspend()
    try:
        with pytest.raises(Lost, match="nothing arrived from the broker for 3 s"):
            keep_alive_for(ours, 10.0)
    finally:
        process.resume()
        ours.socket.close()


def keep_alive_for(ours: Connection, seconds: float) -> None:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        ours.keep_alive()
        ours.fill()
        ours.consumed(ours.have)
        time.sleep(0.05)
