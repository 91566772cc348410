"""A private RabbitMQ cluster of three nodes on this machine, started and ended with us."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from mqperf.errors import SystemFault
from mqperf.hosts import Process
from mqperf.load import Access, Endpoint
from mqperf.plan import Case
from mqperf.record import disk_errors
from mqperf.systems.evidence import LogReader, check_alive
from mqperf.systems.rabbitmq_access import POLICIES
from mqperf.systems.rabbitmq_config import USER, Cluster
from mqperf.systems.rabbitmq_control import Control
from mqperf.systems.system import Node, node_label
from mqperf.topologies import TOPOLOGIES


class NoClusterError(SystemFault):
    """Nodes that are up, but have not found each other."""


class PrivateCluster:
    """The deployment; ``rabbitmq_launch`` starts and stops it."""

    def __init__(self, cluster: Cluster, control: Control, processes: Sequence[Process]) -> None:
        """Take over running nodes, and raise ``NoClusterError`` unless they are one cluster."""
        self._cluster = cluster
        self._control = control
        self._processes = tuple(processes)
        self._logs = [LogReader(control.host, process.log) for process in processes]
        self._status = control.status(cluster.node_names[0])
        running = cast("list[str]", self._status["running_nodes"])
        if set(running) != set(cluster.node_names):
            raise NoClusterError(
                f"the RabbitMQ nodes did not form one cluster: {', '.join(cluster.node_names)}"
                f" were started, {', '.join(sorted(running))} found each other;"
                " repeat the command when the machine is less busy"
            )

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Master, Slave 1 and Slave 2."""
        return tuple(
            Node(node_label(index), name, process, self._control.host)
            for index, (name, process) in enumerate(
                zip(self._cluster.node_names, self._processes, strict=True)
            )
        )

    def provision(self, case: Case, run_id: str) -> Access:
        """Make a virtual host for the run, with its policy before any queue is declared."""
        self._control.add_vhost(self._live_node(), run_id, USER, POLICIES[case.queues])
        topology = TOPOLOGIES[case.topology]
        return Access(
            client=self._endpoint(topology.client, run_id),
            server=self._endpoint(topology.server, run_id),
        )

    def clean_up(self, run_id: str) -> None:
        """Delete the run's virtual host and all its queues."""
        self._control.delete_vhost(self._live_node(), run_id)

    def facts(self) -> dict[str, JsonValue]:
        """Give versions and configuration, and each node's memory."""
        return {
            "product": "RabbitMQ",
            "cluster": "private",
            "version": self._versions["rabbitmq_version"],
            "runtime": f"Erlang {self._versions['erlang_version']}",
            "nodes": [
                {"label": node.label, "name": node.name, "rss_bytes": process.rss_bytes}
                for node, process in zip(self.nodes, self._processes, strict=True)
            ],
            "config": self._cluster.redacted(self._cluster.config(0)),
            "policies": cast("JsonValue", POLICIES),
            "memory_watermark_bytes": self._cluster.settings.memory_watermark_mb * 1_000_000,
            "management": self._cluster.settings.management,
            "schedulers": "not bound to cores",
        }

    def check(self) -> None:
        """Raise ``SystemFault`` for the first node that is dead, with the end of its log."""
        for node, process in zip(self.nodes, self._processes, strict=True):
            check_alive(
                self._control.host,
                process,
                f"RabbitMQ node {node.label} ({node.name})",
                self._cluster.redacted,
            )

    def collect(self, folder: Path) -> None:
        """Write each node's configuration and what it has logged since the last call."""
        for index, log in enumerate(self._logs):
            stem = self._cluster.node_folder(index).name
            config = self._cluster.redacted(self._cluster.config(index))
            with disk_errors(folder):
                (folder / f"{stem}.conf").write_text(config, encoding="utf-8")
                text = self._cluster.redacted(log.read_on())
                (folder / f"{stem}.log").write_text(text, encoding="utf-8")

    @property
    def _versions(self) -> dict[str, str]:
        versions = cast("dict[str, dict[str, str]]", self._status["versions"])
        return versions[self._cluster.node_names[0]]

    def _live_node(self) -> str:
        for node in self.nodes:
            if node.process is not None and node.process.alive:
                return node.name
        raise SystemFault("all RabbitMQ nodes are dead")

    def _endpoint(self, index: int, vhost: str) -> Endpoint:
        address = f"127.0.0.1:{self._cluster.amqp_port(index)}"
        return Endpoint("amqp-0-9-1", (address,), USER, self._cluster.password, vhost)
