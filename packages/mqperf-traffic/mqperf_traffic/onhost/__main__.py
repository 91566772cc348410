"""Run as ``python -m mqperf_traffic.onhost ORDERS``: one client or server of a replay."""

import sys
from functools import partial
from pathlib import Path

from mqperf_amqp_0_9_1.onhost.consumer import Consumer
from mqperf_amqp_0_9_1.onhost.orders import read
from mqperf_numbered.onhost.process import live, recorded
from mqperf_traffic.onhost.orders import Orders
from mqperf_traffic.onhost.publisher import replayer


def main() -> None:
    """Be the client or server that the orders say."""
    orders = read(Orders, Path(sys.argv[1]))
    if orders.profile is not None:
        (orders.out / f"{orders.label}.traffic").write_text(orders.profile, encoding="utf-8")
    role = replayer if orders.kind == "client" else Consumer
    streams = recorded(orders, *(["confirmed"] if orders.confirms else []))
    live("traffic", orders, streams, partial(name, orders), partial(role, orders))


def name(orders: Orders, place: int) -> str:
    """``client-1.2@3``: what one of its queues gets of a route."""
    route, copy = divmod(place, orders.copies)
    return f"{orders.sender(route)}@{copy + 1}" if orders.copies > 1 else orders.sender(route)


if __name__ == "__main__":
    main()
