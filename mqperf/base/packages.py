"""The packages of mqperf's repository beside mqperf itself, and what they bring."""

from collections.abc import Mapping

BROUGHT: Mapping[str, str] = {
    "compute-nodes": "mqperf-openstack",
    "rpc-chain": "mqperf-openstack",
    ".conf": "mqperf-openstack",
    "activemq": "mqperf-activemq",
    "activemq-leveldb": "mqperf-activemq",
    "artemis": "mqperf-activemq",
    "artemis-ha": "mqperf-activemq",
    "jolokia": "mqperf-activemq",
}
"""The package that brings what plans or logs call so, or files of that suffix."""


def package_of(name: str) -> str:
    """The package to install for what records call so."""
    return BROUGHT.get(name, "the package that adds it")
