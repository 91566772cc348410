"""The release of oslo.messaging that speaks ZeroMQ, and the options of its driver."""

from pathlib import Path

from mqperf.lab.load.launcher import Endpoint
from mqperf.lab.load.oslo.releases import Release, Sections
from mqperf.plan import Case

PROTOCOL = "zmtp"


def options(_case: Case, _endpoint: Endpoint, address: str) -> Sections:
    """Return the driver's options: everything on one address, servers reached directly."""
    return {
        "oslo_messaging_zmq": {
            "rpc_zmq_matchmaker": "redis",
            "rpc_zmq_host": address,
            "rpc_zmq_bind_address": address,
            "use_pub_sub": "false",
            "use_router_proxy": "false",
        }
    }


RELEASE = Release(
    name="zeromq",
    version="8.1.4",
    protocol=PROTOCOL,
    scheme="zmq+redis",
    options=options,
    lock=Path(__file__).with_name("locks") / "zeromq.txt",
    sdist_sha256="c91626c5075620265db6c7050409b675c65b41df2308c3ece1da47c9bc935b67",
    repairs=tuple(
        f"mqperf_zeromq.onhost.repairs:{name}"
        for name in ("abstract_collections", "zmq_call_monitor", "whole_topic")
    ),
    libraries=("pyzmq", "redis"),
    why="the last series with a ZeroMQ driver",
)
