"""Run as ``python -m mqperf_amqp_0_9_1.onhost ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf_amqp_0_9_1.onhost.consumer import Consumer
from mqperf_amqp_0_9_1.onhost.dead_letters import STREAM
from mqperf_amqp_0_9_1.onhost.orders import Orders, read
from mqperf_amqp_0_9_1.onhost.priorities import URGENT, USUAL
from mqperf_amqp_0_9_1.onhost.publisher import Publisher
from mqperf_numbered.onhost.process import live, recorded


def main() -> None:
    """Run as the client or server of the orders."""
    orders = read(Orders, Path(sys.argv[1]))
    role = Publisher if orders.kind == "client" else Consumer
    streams = recorded(orders, *(["confirmed"] if orders.confirms else []))
    if orders.kind == "server" and orders.dead_letters is not None:
        streams.append(STREAM)
    if orders.kind == "server" and orders.urgent_share is not None:
        streams += [URGENT, USUAL]
    live("amqp-0-9-1", orders, streams, partial(role, orders))


if __name__ == "__main__":
    main()
