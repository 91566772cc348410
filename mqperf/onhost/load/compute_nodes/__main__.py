"""Run as ``python -m mqperf.onhost.load.compute_nodes ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf.onhost.load.compute_nodes import orders as told
from mqperf.onhost.load.compute_nodes.listening import Listeners
from mqperf.onhost.load.compute_nodes.sending import Senders
from mqperf.onhost.load.numbered.process import live

STREAMS = {"client": ["sent", "error", "handover"], "server": ["received", "service"]}


def main() -> None:
    """Be the client or server that the orders say."""
    orders = told.read(Path(sys.argv[1]))
    role = Senders if orders.kind == "client" else Listeners
    live("compute-nodes", orders, STREAMS[orders.kind], orders.sender, partial(role, orders))


if __name__ == "__main__":
    main()
