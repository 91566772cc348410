"""Run as ``python -m mqperf_nats.onhost ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf_nats.onhost import orders as told
from mqperf_nats.onhost.orders import Orders
from mqperf_nats.onhost.publisher import Publisher
from mqperf_nats.onhost.subscriber import Subscriber
from mqperf_numbered.onhost.process import live


def main() -> None:
    """Be the client or server that the orders say."""
    orders = told.read(Path(sys.argv[1]))
    role = Publisher if orders.kind == "client" else Subscriber
    live("nats", orders, streams(orders), orders.sender, partial(role, orders))


def streams(orders: Orders) -> list[str]:
    """What is recorded: with a rate, when messages were due stands beside when they were sent."""
    paced = orders.paced
    if orders.kind == "server":
        return ["received", *(["service"] if paced else [])]
    confirmed = ["confirmed"] if orders.window else []
    return ["sent", "error", *confirmed, *(["handover"] if paced else [])]


if __name__ == "__main__":
    main()
