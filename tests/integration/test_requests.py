"""Requests and replies over a real RabbitMQ, also with lost connections and queues."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from load_by_hand import Flow, await_instant, job_of
from one_rabbitmq import channel, close_connections, master_of, used_by_sweeps
from pika import BasicProperties

from mqperf.lab.load import Access, Endpoint
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.record.messages import read_messages
from mqperf.study import tables

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems:
  rabbitmq: {topologies: [cs1ss2], queues: [classic, quorum]}
test_cases: [request]
load:
  generator: requests
  reply_to: [direct, queue]
  green_threads: 2
  payload_bytes: 200000
  reply_bytes: 0
  duration_s: 1
"""


def test_every_request_is_replied_to(rabbitmq: PrivateCluster, tmp_path: Path) -> None:
    """Across nodes, with bodies longer than a frame, and with both kinds of reply queue."""
    runs = tmp_path / "runs"
    with used_by_sweeps(rabbitmq):
        sweep(parse_plan(PLAN, Path("plan.yaml")), PLAN, runs, Silent())
    results = tables.read(runs)
    assert results["runs"]["status"].eq("done").all()
    counts = results["messages"]
    assert len(counts) == 4
    assert (counts["round_trip"] > 0).all()
    assert (counts["sent"] == counts["round_trip"]).all()
    assert (counts["sent"] == counts["received"]).all()
    assert (counts["errors"] == 0).all()


class RequestFlow:
    """A client and a server with one thread each, and the streams that they recorded."""

    def __init__(self, cluster: PrivateCluster, folder: Path, reply_to: str) -> None:
        case = {
            "system": "rabbitmq",
            "topology": "cmsm",
            "queues": "classic",
            "test_case": "request",
            "generator": "requests",
            "green_threads": 1,
            "warmup_s": 0,
            "cooldown_s": 0,
            "duration_s": 6,
            "timeout_s": 2,
            "parameters": {"reply_to": reply_to},
        }
        broker = master_of(cluster)
        end = Endpoint("amqp-0-9-1", tuple(broker.addresses), "mqperf", broker.password, "/")
        self.flow = Flow(job_of(Case.model_validate(case), folder, Access(end, end)))

    @property
    def queue(self) -> str:
        """The queue of the only thread."""
        [queue] = self.flow.orders("client-1")["queues"]
        return str(queue)

    def run(self, disturb: Callable[[], None]) -> None:
        """Disturb after two seconds; every request has a reply or an error, later ones replies."""
        with self.flow:
            for label in ("server-1", "client-1"):
                self.flow.start(label)
            begin = self.flow.begin()
            await_instant(begin + 2)
            disturb()
            disturbed = time.time()
            self.flow.end()
        requests = self.starts("client-1", "sent")
        assert requests == self.replied ^ self.failed
        assert max(self.replied) > disturbed
        assert self.replied <= self.starts("server-1", "received") <= requests

    def starts(self, label: str, stream: str) -> set[float]:
        """The start times, which identify messages."""
        return set(read_messages(self.flow.folder / f"{label}.messages")[stream][:, 0])

    @property
    def replied(self) -> set[float]:
        """Requests with a reply."""
        return self.starts("client-1", "round_trip")

    @property
    def failed(self) -> set[float]:
        """Requests that ended as errors."""
        return self.starts("client-1", "error")


@pytest.mark.parametrize("reply_to", ["direct", "queue"])
def test_lost_connections_are_opened_again(
    rabbitmq: PrivateCluster, tmp_path: Path, reply_to: str
) -> None:
    """Those of client and server; a request during the outage is an error."""
    requests = RequestFlow(rabbitmq, tmp_path, reply_to)
    requests.run(lambda: close_connections(rabbitmq))
    assert len(requests.failed) >= 1


def test_a_queue_that_is_deleted_is_declared_again(
    rabbitmq: PrivateCluster, tmp_path: Path
) -> None:
    """Unroutable requests return at once, as errors."""
    requests = RequestFlow(rabbitmq, tmp_path, "direct")
    with channel(master_of(rabbitmq)) as theirs:
        requests.run(lambda: theirs.queue_delete(requests.queue))
    assert len(requests.failed) >= 1


def test_foreign_messages_are_discarded(rabbitmq: PrivateCluster, tmp_path: Path) -> None:
    """Each is discarded once, without a reply; the server goes on."""
    requests = RequestFlow(rabbitmq, tmp_path, "direct")
    with channel(master_of(rabbitmq)) as theirs:

        def interfere() -> None:
            for key in ("order 7", "1 nan", "7.0", None):
                odd = BasicProperties(correlation_id=key, reply_to="amq.rabbitmq.reply-to.none")
                theirs.basic_publish("", requests.queue, b"hello", odd)

        requests.run(interfere)
        assert theirs.queue_declare(requests.queue, passive=True).method.message_count == 0
    assert not requests.failed
