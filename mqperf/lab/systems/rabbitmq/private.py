"""A private RabbitMQ of three nodes or one, started and ended by mqperf."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.base.releases import is_of, parsed
from mqperf.hosts import HostFolder
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.certificates import issued
from mqperf.lab.systems.private import AgainError, PrivateDeployment, ServerLauncher, Servers
from mqperf.lab.systems.rabbitmq.config import NODES, USER, Cluster, Secrets, port_count
from mqperf.lab.systems.rabbitmq.installation import Installation
from mqperf.lab.systems.rabbitmq.policies import POLICIES
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Rabbitmqctl
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.plan import Case
from mqperf.plan.topologies import TOPOLOGIES


class NoClusterError(AgainError):
    """Nodes run, but did not find each other within the limited time of their search."""


def private_cluster(
    settings: Settings, host_folders: Sequence[HostFolder], nodes: int = NODES
) -> AbstractContextManager["PrivateCluster"]:
    """Run a cluster of ``nodes`` nodes, which listen on the addresses of their hosts only.

    Raises ``SystemFault`` when RabbitMQ is missing, a node dies or is not ready in time, no cluster
    is formed, or hosts have different versions; ``HostError`` when a folder cannot be written.
    """
    host_folders = host_folders[:nodes]
    installations, version = _installed(host_folders, settings)
    settings.check_version(version)
    secrets = Secrets()

    def launch(
        servers: Servers, ports: tuple[int, ...], places: Sequence[HostFolder]
    ) -> PrivateCluster:
        addresses = [place.host.address for place in places]
        certificates = issued(places[0].within("certificates"), addresses) if settings.tls else None
        cluster = Cluster(
            places, ports, settings, parsed(version), installations, secrets, certificates
        )
        cluster.write_homes()
        cluster.write_certificates()
        servers.start(cluster.port_mappers(), settings.start_timeout_s)
        brokers = [cluster.node(index) for index in range(nodes)]
        rabbitmqctl = cluster.rabbitmqctl()
        with settings.applied(brokers, rabbitmqctl):
            servers.start(brokers, settings.start_timeout_s)
            versions = _versions(cluster, rabbitmqctl)
            return PrivateCluster(servers, _about(cluster, versions), cluster, rabbitmqctl)

    return ServerLauncher("RabbitMQ", host_folders, nodes, secrets.redacted).launched(
        port_count(), launch
    )


def _installed(
    host_folders: Sequence[HostFolder], settings: Settings
) -> tuple[dict[str, Installation], str]:
    """Return the installation of each host, by its name, and their common version."""
    hosts = {host_folder.host.name: host_folder.host for host_folder in host_folders}
    installations = {name: settings.installation(host) for name, host in hosts.items()}
    versions = {name: installation.version for name, installation in installations.items()}
    if len({*versions.values()}) > 1:
        listing = ", ".join(f"{name} has {version}" for name, version in versions.items())
        raise SystemFault(
            f"the hosts of brokers have different versions of RabbitMQ: {listing}; install the same"
        )
    return installations, next(iter(versions.values()))


def _versions(cluster: Cluster, rabbitmqctl: Rabbitmqctl) -> Mapping[str, str]:
    """Return the versions that the Master runs, by RabbitMQ's names.

    Raises ``NoClusterError`` unless all nodes have found each other, and ``SystemFault`` where
    another version runs than the requested one.
    """
    master = cluster.node_names[0]
    status = rabbitmqctl.status(master)
    running = cast("list[str]", status["running_nodes"])
    if set(running) != set(cluster.node_names):
        raise NoClusterError(
            f"the RabbitMQ nodes did not form one cluster: {', '.join(cluster.node_names)}"
            f" were started, {', '.join(sorted(running))} found each other;"
            " repeat the command when the machine is less busy"
        )
    versions = cast("dict[str, dict[str, str]]", status["versions"])[master]
    requested, actual = cluster.settings.version, versions["rabbitmq_version"]
    if requested is not None and not is_of(actual, requested):
        raise SystemFault(f"RabbitMQ {actual} was started where {requested} was asked for")
    return versions


def _about(cluster: Cluster, versions: Mapping[str, str]) -> dict[str, JsonValue]:
    """Return versions and configuration, for the facts of the deployment."""
    settings, first = cluster.settings, cluster.node(0)
    return {
        "product": "RabbitMQ",
        "cluster": "private",
        "version": versions["rabbitmq_version"],
        "runtime": f"Erlang {versions['erlang_version']}",
        "config": cluster.secrets.redacted(first.files["rabbitmq.conf"]),
        "policies": {each: cast("JsonValue", settings.policies(each)) for each in POLICIES},
        "memory_watermark_bytes": settings.memory_watermark_mb * 1_000_000,
        "management": settings.management,
        "metrics": first.inside is not None,
        "tls": settings.tls,
        "schedulers": "not bound to cores",
    }


@dataclass(frozen=True, slots=True)
class PrivateCluster(PrivateDeployment):
    """The deployment: Master, Slave 1 and Slave 2, or a single Broker."""

    _cluster: Cluster
    _rabbitmqctl: Rabbitmqctl

    def provision(self, case: Case, run_id: str) -> Access:
        """Create a virtual host for the run, with its policies before any queue is declared."""
        settings = self._cluster.settings
        listener = settings.listener(case)
        declared = settings.declared(case, run_id, str(self.about["version"]))
        policies = settings.policies(case.queues)
        self._rabbitmqctl.add_vhost(self._live_node(), run_id, USER, policies, declared)
        every = settings.reached(case, self._endpoint(run_id, listener))
        return Access.by(TOPOLOGIES[case.topology], every)

    def clean_up(self, run_id: str, _queues: Sequence[str]) -> None:
        """Delete the run's virtual host and all its queues."""
        self._rabbitmqctl.delete_vhost(self._live_node(), run_id)

    def _live_node(self) -> str:
        for node in self.nodes:
            if node.process is not None and node.process.alive:
                return node.name
        raise SystemFault("all RabbitMQ nodes are dead")

    def _endpoint(self, vhost: str, listener: str | None = None) -> Endpoint:
        """Return the endpoint of all nodes at their AMQP port, or at that listener."""
        cluster = self._cluster
        addresses = (
            cluster.addresses(index)[listener]
            if listener
            else f"{cluster.address(index)}:{cluster.amqp_port(index)}"
            for index in range(len(cluster.host_folders))
        )
        certificates = cluster.certificates
        authority = "" if certificates is None else certificates.authority
        password = cluster.secrets.password
        protocol = listener or "amqp-0-9-1"
        return Endpoint(protocol, (*addresses,), USER, password, vhost, authority=authority)
