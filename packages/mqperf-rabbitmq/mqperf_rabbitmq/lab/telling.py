"""The plugin for Prometheus, by which nodes expose their metrics, without a password."""

from dataclasses import replace

from mqperf.base.errors import SystemFault
from mqperf.base.releases import parsed
from mqperf.lab.probes import Inside
from mqperf.lab.systems.service import Server
from mqperf_rabbitmq.lab.presets import Keys
from mqperf_rabbitmq.onhost import metrics

STATISTICS_MS = 1000
"""Interval of statistics of queues and nodes: as often as the probe reads them."""

TELLING = (3, 10)
"""The first version whose plugin for Prometheus has families of metrics, of single queues."""

PLUGIN = "rabbitmq_prometheus"


def check(version: str) -> None:
    """Raise ``SystemFault`` for a version whose plugin lacks metrics of single queues."""
    if parsed(version) < TELLING:
        raise SystemFault(
            f"rabbitmq: RabbitMQ {version} has no metrics of single queues: leave out metrics and"
            f" the probe inside, or install {'.'.join(map(str, TELLING))} or later"
        )


def config(address: str) -> Keys:
    """Return the configuration of a node that exposes metrics at an address."""
    ip, _, port = address.rpartition(":")
    return {
        "prometheus.tcp.ip": ip,
        "prometheus.tcp.port": port,
        "collect_statistics_interval": STATISTICS_MS,
    }


def told(node: Server, address: str) -> Server:
    """Return the node with the address of its metrics."""
    return replace(node, inside=Inside(node.label, metrics.__name__, address))
