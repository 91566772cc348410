"""Run as ``python -m mqperf_amqp_0_9_1.onhost ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf_amqp_0_9_1.onhost.consumer import Consumer
from mqperf_amqp_0_9_1.onhost.orders import Orders, read
from mqperf_amqp_0_9_1.onhost.publisher import Publisher
from mqperf_numbered.onhost.process import live, recorded


def main() -> None:
    """Be the client or server that the orders say."""
    orders = read(Orders, Path(sys.argv[1]))
    role = Publisher if orders.kind == "client" else Consumer
    streams = recorded(orders, *(["confirmed"] if orders.confirms else []))
    live("amqp-0-9-1", orders, streams, partial(name, orders), partial(role, orders))


def name(orders: Orders, place: int) -> str:
    """``client-1.2``, or as a server names the second copy of its messages, ``client-1.2@2``."""
    copies = orders.copies if orders.kind == "server" else 1
    thread, copy = divmod(place, copies)
    sender = orders.sender(thread)
    return f"{sender}@{copy + 1}" if copies > 1 else sender


if __name__ == "__main__":
    main()
