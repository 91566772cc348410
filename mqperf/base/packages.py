"""The packages of mqperf's repository beside mqperf itself, and what they bring."""

from collections.abc import Mapping

BROUGHT: Mapping[str, str] = {
    "activemq-leveldb": "mqperf-activemq-leveldb",
    "compute-nodes": "mqperf-openstack",
    "rpc-chain": "mqperf-openstack",
    ".conf": "mqperf-openstack",
}
"""The package that brings what plans call so, or files of that suffix."""
