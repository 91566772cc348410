"""Run as ``python -m mqperf_openstack.onhost.compute_nodes ORDERS``: a client or a server."""

import sys
from functools import partial
from pathlib import Path

from mqperf_numbered.onhost.process import live
from mqperf_openstack.onhost.compute_nodes.listening import Listeners
from mqperf_openstack.onhost.compute_nodes.orders import read
from mqperf_openstack.onhost.compute_nodes.sending import Senders

STREAMS = {"client": ["sent", "error", "handover"], "server": ["received", "service"]}


def main() -> None:
    """Run as the client or the server that the orders describe."""
    orders = read(Path(sys.argv[1]))
    role = Senders if orders.kind == "client" else Listeners
    live("compute-nodes", orders, STREAMS[orders.kind], partial(role, orders))


if __name__ == "__main__":
    main()
