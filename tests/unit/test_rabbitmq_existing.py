"""A RabbitMQ cluster that already exists, or cannot be reached."""

import socket
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Self

import amqp
import pytest
from typing_extensions import override

from mqperf.base.errors import SystemFault
from mqperf.hosts import LocalHost
from mqperf.lab.systems.rabbitmq import existing
from mqperf.lab.systems.rabbitmq.existing import existing_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.plan import Case

if TYPE_CHECKING:
    from pydantic import JsonValue

    from mqperf.lab.systems.rabbitmq.rabbitmqctl import Definitions

CASE = Case(
    system="rabbitmq",
    topology="cmsm",
    queues="classic",
    test_case="rpc-call",
    green_threads=1,
    duration_s=1,
)
STATUS = {"version": "3.10.8", "platform": "Erlang/OTP 25", "cluster_name": "theirs"}


def test_unreachable_node_is_named_without_its_password() -> None:
    """The error names the URL that is wrong."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"rabbit://u:secret@127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(SystemFault, match=r"rabbit://u:\*\*\*@127.*cannot be reached") as fault:
            existing_cluster(Settings(nodes=("a",), urls=(url,)), [LocalHost()])
    assert "secret" not in str(fault.value)


def greet(server: socket.socket) -> None:
    with server.accept()[0] as visitor:
        visitor.sendall(b"SSH-2.0-not-a-broker\r\n")


def test_another_service_on_the_port_is_refused() -> None:
    """A server that is not RabbitMQ is not measured as one."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        pool.submit(greet, server)
        url = f"rabbit://u:p@127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(SystemFault, match="cannot be reached"):
            existing_cluster(Settings(nodes=("a",), urls=(url,)), [LocalHost()])


class Broker:
    """An existing broker, as its client sees it; it denies access to the queue ``refused``."""

    def __init__(self, properties: dict[str, str], refused: str = "") -> None:
        self.server_properties, self.refused = properties, refused
        self.queues: list[str] = []
        self.sock = SimpleNamespace(
            getpeername=lambda: ("127.0.0.1", 1), getsockname=lambda: ("127.0.0.1", 2)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """The connection is closed."""

    def channel(self) -> "Broker":
        return self

    def queue_declare(self, name: str, **_more: object) -> None:
        self._check(name)
        self.queues.append(name)

    def queue_delete(self, name: str) -> None:
        self._check(name)
        self.queues.remove(name)

    def _check(self, name: str) -> None:
        if name == self.refused:
            raise amqp.exceptions.AccessRefused(f"no access to {name} for u with secret")


class Declaring(Settings):
    """Settings whose runs declare two queues."""

    @override
    def declared(self, _case: Case, run_id: str, _version: str) -> "Definitions":
        queues: list[dict[str, JsonValue]] = [
            {"name": f"{run_id}-{letter}", "arguments": {}} for letter in "ab"
        ]
        return {"queues": queues}


def cluster_at(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> existing.ExistingCluster:
    """The existing cluster that mqperf makes of the broker."""
    monkeypatch.setattr(existing, "_connect", lambda _url: broker)
    settings = Declaring(nodes=("a",), urls=("rabbit://u:secret@127.0.0.1",))
    return existing_cluster(settings, [])


def test_queues_of_a_run_are_declared_and_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """All queues of the run, and no others."""
    broker = Broker(STATUS)
    cluster = cluster_at(broker, monkeypatch)
    broker.queues.append("theirs")
    cluster.provision(CASE, "run")
    assert broker.queues == ["theirs", "run-a", "run-b"]
    cluster.clean_up("run", ("run-a", "run-b"))
    assert broker.queues == ["theirs"]


def test_a_queue_that_is_refused_is_told_and_no_other_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Queues declared before it are deleted; the password is not repeated."""
    broker = Broker(STATUS, refused="run-b")
    with pytest.raises(SystemFault, match=r"a request of 'u': .*to run-b for u with \*\*\*$"):
        cluster_at(broker, monkeypatch).provision(CASE, "run")
    assert broker.queues == []


def test_a_deletion_that_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster is unusable for further runs, but the sweep does not end with an error."""
    cluster = cluster_at(Broker(STATUS, refused="run-a"), monkeypatch)
    with pytest.raises(SystemFault, match="no access to run-a"):
        cluster.clean_up("run", ("run-a",))


def test_nothing_is_declared_for_a_topology_that_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Queues declared for it would never be deleted."""
    broker = Broker(STATUS)
    with pytest.raises(SystemFault, match="cs1ss2 needs 2 RabbitMQ nodes"):
        cluster_at(broker, monkeypatch).provision(
            CASE.model_copy(update={"topology": "cs1ss2"}), "run"
        )
    assert broker.queues == []


def test_a_broker_that_is_no_rabbitmq_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It speaks AMQP but has no information about a cluster."""
    with pytest.raises(SystemFault, match="not RabbitMQ: it does not report its platform"):
        cluster_at(Broker({"version": "1.39.0"}), monkeypatch)
