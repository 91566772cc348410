"""A RabbitMQ cluster that is already there: we use it, watch it, and change nothing in it.

Runs cannot have a virtual host of their own, so they keep apart by their topics, and what they
declared is deleted by name afterwards.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.base.urls import HIDDEN, BrokerUrl
from mqperf.hosts import Host, interface_of
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.lab.systems.rabbitmq.urls import AUTHORITY, ENCRYPTED, address, authority
from mqperf.lab.systems.rabbitmq.version import kind_of_queue
from mqperf.lab.systems.system import Node, node_label
from mqperf.plan import Case
from mqperf.plan.topologies import TOPOLOGIES

if TYPE_CHECKING:
    import amqp

CONNECT_TIMEOUT_S = 5
ERLANG = "beam.smp"
"""The program of a node: Erlang's machine."""
TOLD = "version", "platform", "cluster_name"
"""What every RabbitMQ tells who connects."""
MIRRORED = "asserted by the plan: mirrored queues need a policy which mqperf neither sets nor sees"


@dataclass(frozen=True, slots=True)
class Peer:
    """What a node said of itself when we connected."""

    node: Node
    version: str
    platform: str
    cluster: str
    interface: str | None


class ExistingCluster:
    """The deployment; nothing of it ends with us."""

    ends_with_us = False

    def __init__(self, peers: tuple[Peer, ...], settings: Settings) -> None:
        """Take nodes that have been reached by these settings."""
        self._peers, self._settings = peers, settings
        self._urls = settings.endpoints

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes in the order of the plan's URLs."""
        return tuple(peer.node for peer in self._peers)

    def provision(self, case: Case, run_id: str) -> Access:
        """Give the URLs of the topology's nodes; the virtual host is the URL's own."""
        kind_of_queue(case.queues, self._peers[0].version)
        topology = TOPOLOGIES[case.topology]
        if topology.any_node:
            raise SystemFault(
                f"topology {topology.name} needs a cluster that mqperf starts: of an existing one,"
                " put an address in front of its nodes, and plan cmsm with its url"
            )
        self._settings.listener(case)
        endpoints = (self._endpoint(at, case.topology) for at in (topology.client, topology.server))
        access = Access(*(self._settings.reached(case, endpoint) for endpoint in endpoints))
        declared = self._settings.declared(case, run_id, self._peers[0].version)
        if declared:
            self._declare(run_id, declared["queues"])
        return access

    def _declare(self, run_id: str, queues: Sequence[Mapping[str, Any]]) -> None:
        """Declare them all, or leave none behind."""
        names: list[str] = []
        try:
            with connected(self._urls[0]) as connection:
                channel = connection.channel()
                for queue in queues:
                    channel.queue_declare(
                        queue["name"], durable=True, auto_delete=False, arguments=queue["arguments"]
                    )
                    names.append(queue["name"])
        except BaseException:
            if names:
                with suppress(SystemFault):
                    self.clean_up(run_id, names)
            raise

    def clean_up(self, _run_id: str, queues: Sequence[str]) -> None:
        """Delete the queues which the run declared; the server expires those with random names."""
        with connected(self._urls[0]) as connection:
            channel = connection.channel()
            for queue in queues:
                channel.queue_delete(queue)

    def facts(self) -> dict[str, JsonValue]:
        """Give what the nodes said when we connected."""
        first = self._peers[0]
        return {
            "product": "RabbitMQ",
            "cluster": "existing",
            "cluster_name": first.cluster,
            "version": first.version,
            "runtime": first.platform.replace("Erlang/OTP", "Erlang"),
            "nodes": [
                {
                    "label": peer.node.label,
                    "name": peer.node.name,
                    "version": peer.version,
                    "interface": peer.interface,
                }
                for peer in self._peers
            ],
            "urls": [url.shown() for url in self._urls],
            "tls": self._urls[0].scheme == ENCRYPTED,
            "policies": {"mirrored": MIRRORED},
        }

    def check(self) -> None:
        """Raise ``SystemFault`` when a node on this machine is gone; others are not asked."""
        for node in self.nodes:
            if node.process is not None and not node.process.alive:
                raise SystemFault(f"RabbitMQ node {node.label} ({node.name}) has ended")

    def collect(self, folder: Path) -> None:
        """Leave the folder empty: configuration and logs belong to somebody else."""

    def _endpoint(self, index: int, topology: str) -> Endpoint:
        if index >= len(self._urls):
            raise SystemFault(
                f"topology {topology} needs {index + 1} RabbitMQ nodes,"
                f" the plan's settings give {len(self._urls)}: add their urls"
            )
        url = self._urls[index]
        user, password = url.credentials
        return Endpoint(
            "amqp-0-9-1",
            (address(url),),
            user,
            password,
            url.vhost,
            url.options_but(AUTHORITY),
            authority(url),
        )


def existing_cluster(settings: Settings, hosts: Sequence[Host]) -> ExistingCluster:
    """Connect to every URL once, and learn who answers.

    A node that runs on one of the hosts is watched there.
    Raises ``SystemFault`` for a node that cannot be reached or refuses the user.
    """
    peers = tuple(
        _peer(index, name, url, hosts)
        for index, (name, url) in enumerate(zip(settings.nodes, settings.endpoints, strict=True))
    )
    return ExistingCluster(peers, settings)


@contextmanager
def connected(url: BrokerUrl) -> "Iterator[amqp.Connection]":
    """Open an AMQP connection for a moment; all that is refused becomes ``SystemFault``."""
    import amqp

    shown, user = url.shown(), url.credentials[0]
    try:
        connection = _connect(url)
    except amqp.exceptions.AccessRefused:
        raise SystemFault(f"{shown}: RabbitMQ refuses user {user!r} or the password") from None
    except amqp.exceptions.NotAllowed as error:
        reason = _without_secrets(url, error.reply_text)
        raise SystemFault(f"{shown}: not allowed for {user!r}: {reason}") from None
    except (OSError, ValueError, amqp.exceptions.AMQPError) as error:
        raise SystemFault(
            f"{shown}: cannot be reached ({_without_secrets(url, error)});"
            " start it, or correct the plan's settings"
        ) from None
    try:
        with connection:
            yield connection
    except (OSError, amqp.exceptions.AMQPError) as error:
        reason = _without_secrets(url, error)
        raise SystemFault(f"{shown}: RabbitMQ does not do what {user!r} asks: {reason}") from None


def _connect(url: BrokerUrl) -> "amqp.Connection":
    import amqp

    user, password = url.credentials
    trusted = authority(url)
    connection = amqp.Connection(
        host=address(url),
        userid=user,
        password=password,
        virtual_host=unquote(url.path[1:]) or "/",
        connect_timeout=CONNECT_TIMEOUT_S,
        ssl=_by_tls(url.host, trusted) if trusted else False,
    )
    connection.connect()
    return connection


def _by_tls(host: str, trusted: str) -> dict[str, object]:
    """Only who has a certificate for that host, signed by those that are trusted, is RabbitMQ."""
    return {"context": {"cadata": trusted, "check_hostname": True}, "server_hostname": host}


def _without_secrets(url: BrokerUrl, text: object) -> str:
    """What a library or a server said, without any form of the URL's password."""
    words = str(text)
    for secret in sorted(url.secrets(), key=len, reverse=True):
        words = words.replace(secret, HIDDEN)
    return words


def _peer(index: int, name: str, url: BrokerUrl, hosts: Sequence[Host]) -> Peer:
    with connected(url) as connection:
        properties = connection.server_properties
        if silent := [key for key in TOLD if key not in properties]:
            raise SystemFault(
                f"{url.shown()}: this is no RabbitMQ: it does not tell its {', '.join(silent)};"
                " correct the plan's settings"
            )
        ip, port = connection.sock.getpeername()[:2]
        listeners = ((host, host.listener(name, ip, port, ERLANG)) for host in hosts)
        host, broker = next(
            ((host, process) for host, process in listeners if process), (None, None)
        )
        node = Node(node_label(index), name, broker, host)
        # the interface of ours by which the node is reached
        interface = interface_of(connection.sock.getsockname()[0])
        version, platform, cluster = (properties[key] for key in TOLD)
        return Peer(node, version, platform, cluster, interface)
