"""Run as ``python -m mqperf_streams.onhost ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf_numbered.onhost.process import live
from mqperf_streams.onhost import orders as told
from mqperf_streams.onhost.consumer import Consumer
from mqperf_streams.onhost.orders import Orders
from mqperf_streams.onhost.publisher import Publisher


def main() -> None:
    """Be the client or server that the orders say."""
    orders = told.read(Path(sys.argv[1]))
    role = Publisher if orders.kind == "client" else Consumer
    live("rabbitmq-stream", orders, streams(orders), orders.sender, partial(role, orders))


def streams(orders: Orders) -> list[str]:
    """What is recorded: with a rate, when messages were due stands beside when they were sent."""
    if orders.kind == "server":
        return ["received", *(["service"] if orders.paced else [])]
    return ["sent", "error", "confirmed", *(["handover"] if orders.paced else [])]


if __name__ == "__main__":
    main()
