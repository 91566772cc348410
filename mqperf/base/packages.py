"""The packages of mqperf's repository beside mqperf itself, and what they bring."""

from collections.abc import Mapping

BROUGHT: Mapping[str, str] = {
    "compute-nodes": "mqperf-openstack",
    "rpc-chain": "mqperf-openstack",
    ".conf": "mqperf-openstack",
    "black-hole-at-step": "mqperf-openstack",
    "disconnect-at-step": "mqperf-openstack",
    "freeze-at-step": "mqperf-openstack",
    "kill-at-step": "mqperf-openstack",
    "stop-at-step": "mqperf-openstack",
    "activemq": "mqperf-activemq",
    "activemq-leveldb": "mqperf-activemq",
    "artemis": "mqperf-activemq",
    "artemis-ha": "mqperf-activemq",
    "jolokia": "mqperf-activemq",
    "atop": "mqperf-atop",
    "amqp-0-9-1": "mqperf-amqp-0-9-1",
    "publish": "mqperf-amqp-0-9-1",
    "amqp-1.0": "mqperf-amqp-1-0",
    "command": "mqperf-command",
    "script": "mqperf-command",
    "qpid-dispatch": "mqperf-routers",
    "amqp-management": "mqperf-routers",
    "tun-relay": "mqperf-links",
    "partition": "mqperf-links",
    "disconnect": "mqperf-links",
    "black-hole": "mqperf-links",
    "impair": "mqperf-links",
    "zeromq": "mqperf-zeromq",
    "laboratory": "mqperf-laboratory",
    "mqperf laboratory": "mqperf-laboratory",
    "mqperf topology": "mqperf-routers",
    "mqperf hosts": "mqperf-hosts",
    "mqperf import": "mqperf-imported",
    "mqperf trend": "mqperf-trend",
    "mqperf software": "mqperf-software",
}
"""The package that brings what plans and records call so, files of that suffix, or a command."""

BESIDE_RUNS = ("atop",)
"""Those of them that record into a folder beside the runs."""


def package_of(name: str) -> str:
    """The package to install for what records call so."""
    return BROUGHT.get(name, "the package that adds it")


def lacking(name: str) -> str | None:
    """The package that brings what is called so, if it is not installed."""
    package = BROUGHT.get(name)
    return None if package is None or _installed(package) else package


def _installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True
