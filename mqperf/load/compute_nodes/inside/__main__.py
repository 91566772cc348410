"""Run as ``python -m mqperf.load.compute_nodes.inside ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf.load.compute_nodes.inside import orders as told
from mqperf.load.compute_nodes.inside.listening import Listeners
from mqperf.load.compute_nodes.inside.sending import Senders
from mqperf.load.numbered.inside.process import live

STREAMS = {"client": ["sent", "error", "handover"], "server": ["received", "service"]}


def main() -> None:
    """Be the client or server that the orders say."""
    orders = told.read(Path(sys.argv[1]))
    role = Senders if orders.kind == "client" else Listeners
    live("compute-nodes", orders, STREAMS[orders.kind], orders.sender, partial(role, orders))


if __name__ == "__main__":
    main()
