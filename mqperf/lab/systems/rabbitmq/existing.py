"""An existing RabbitMQ cluster: it is used and monitored, but not configured.

Runs cannot have a virtual host of their own, so they are separated by their topics, and their
queues are deleted by name afterwards.
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
"""The program of a node: the virtual machine of Erlang."""
PROPERTIES = "version", "platform", "cluster_name"
"""Properties that every RabbitMQ sends to its clients."""
MIRRORED = "asserted by the plan: mirrored queues need a policy which mqperf neither sets nor sees"


@dataclass(frozen=True, slots=True)
class Peer:
    """Properties of a node, from the first connection."""

    node: Node
    version: str
    platform: str
    cluster: str
    interface: str | None


class ExistingCluster:
    """The deployment of an existing cluster, which continues to run after mqperf."""

    ends_with_us = False

    def __init__(self, peers: tuple[Peer, ...], settings: Settings) -> None:
        """Use the nodes to which these settings led."""
        self._peers, self._settings = peers, settings
        self._urls = settings.endpoints

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes in the order of the plan's URLs."""
        return tuple(peer.node for peer in self._peers)

    def provision(self, case: Case, run_id: str) -> Access:
        """Return the endpoints of the topology's nodes; the virtual host is that of the URL."""
        kind_of_queue(case.queues, self._peers[0].version)
        topology = TOPOLOGIES[case.topology]
        if topology.any_node:
            raise SystemFault(
                f"topology {topology.name} needs a cluster that mqperf starts: of an existing one,"
                " put an address in front of its nodes, and plan cmsm with its url"
            )
        self._settings.listener(case)
        endpoints = (self._endpoint(n, case.topology) for n in (topology.client, topology.server))
        access = Access(*(self._settings.reached(case, endpoint) for endpoint in endpoints))
        declared = self._settings.declared(case, run_id, self._peers[0].version)
        if declared:
            self._declare(run_id, declared["queues"])
        return access

    def _declare(self, run_id: str, queues: Sequence[Mapping[str, Any]]) -> None:
        """Declare all queues, or leave none behind after an error."""
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
        """Delete the queues that the run declared; those with random names expire by themselves."""
        with connected(self._urls[0]) as connection:
            channel = connection.channel()
            for queue in queues:
                channel.queue_delete(queue)

    def facts(self) -> dict[str, JsonValue]:
        """Return the properties of the nodes from the first connection."""
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
        """Raise ``SystemFault`` when a node whose process is visible has ended."""
        for node in self.nodes:
            if node.process is not None and not node.process.alive:
                raise SystemFault(f"RabbitMQ node {node.label} ({node.name}) has ended")

    def collect(self, folder: Path) -> None:
        """Do nothing: configuration and logs of an existing cluster are not collected."""

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
    """Connect to every URL once, and read the properties of its node.

    The process of a node that runs on one of the hosts is monitored.
    Raises ``SystemFault`` for a node that cannot be reached or refuses the user.
    """
    peers = tuple(
        _peer(index, name, url, hosts)
        for index, (name, url) in enumerate(zip(settings.nodes, settings.endpoints, strict=True))
    )
    return ExistingCluster(peers, settings)


@contextmanager
def connected(url: BrokerUrl) -> "Iterator[amqp.Connection]":
    """Open a short AMQP connection; every error is raised as ``SystemFault``."""
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
        raise SystemFault(f"{shown}: RabbitMQ rejects a request of {user!r}: {reason}") from None


def _connect(url: BrokerUrl) -> "amqp.Connection":
    import amqp

    user, password = url.credentials
    authorities = authority(url)
    connection = amqp.Connection(
        host=address(url),
        userid=user,
        password=password,
        virtual_host=unquote(url.path[1:]) or "/",
        connect_timeout=CONNECT_TIMEOUT_S,
        ssl=_tls_options(url.host, authorities) if authorities else False,
    )
    connection.connect()
    return connection


def _tls_options(host: str, authorities: str) -> dict[str, object]:
    """Return options to require a certificate for that host, signed by the authorities."""
    return {"context": {"cadata": authorities, "check_hostname": True}, "server_hostname": host}


def _without_secrets(url: BrokerUrl, text: object) -> str:
    """Return an error message without any form of the URL's password."""
    message = str(text)
    for secret in sorted(url.secrets(), key=len, reverse=True):
        message = message.replace(secret, HIDDEN)
    return message


def _peer(index: int, name: str, url: BrokerUrl, hosts: Sequence[Host]) -> Peer:
    with connected(url) as connection:
        properties = connection.server_properties
        if missing := [key for key in PROPERTIES if key not in properties]:
            raise SystemFault(
                f"{url.shown()}: this is not RabbitMQ: it does not report its {', '.join(missing)};"
                " correct the plan's settings"
            )
        ip, port = connection.sock.getpeername()[:2]
        listeners = ((host, host.listener(name, ip, port, ERLANG)) for host in hosts)
        host, broker = next(
            ((host, process) for host, process in listeners if process), (None, None)
        )
        node = Node(node_label(index), name, broker, host)
        # the local interface over which the node is reached
        interface = interface_of(connection.sock.getsockname()[0])
        version, platform, cluster = (properties[key] for key in PROPERTIES)
        return Peer(node, version, platform, cluster, interface)
