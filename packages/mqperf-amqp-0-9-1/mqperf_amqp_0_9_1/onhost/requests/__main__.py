"""Run as ``python -m mqperf_amqp_0_9_1.onhost.requests ORDERS``: one client or server of a load."""

import sys
from pathlib import Path

from mqperf_amqp_0_9_1.onhost.closed_loop import Process, live
from mqperf_amqp_0_9_1.onhost.requests.orders import Requests, read
from mqperf_amqp_0_9_1.onhost.requests.requester import Requester
from mqperf_amqp_0_9_1.onhost.requests.responder import Responder


def program() -> Process[Requests]:
    """Return the client or server of the orders."""
    orders = read(Path(sys.argv[1]))
    return Requester(orders) if orders.kind == "client" else Responder(orders)


if __name__ == "__main__":
    live(program)
