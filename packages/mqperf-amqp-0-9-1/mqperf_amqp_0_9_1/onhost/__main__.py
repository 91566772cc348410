"""Run as ``python -m mqperf_amqp_0_9_1.onhost ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf_amqp_0_9_1.onhost import orders as told
from mqperf_amqp_0_9_1.onhost.consumer import Consumer
from mqperf_amqp_0_9_1.onhost.orders import Orders
from mqperf_amqp_0_9_1.onhost.publisher import Publisher
from mqperf_numbered.onhost.process import live


def main() -> None:
    """Be the client or server that the orders say."""
    orders = told.read(Path(sys.argv[1]))
    role = Publisher if orders.kind == "client" else Consumer
    live("amqp-0-9-1", orders, streams(orders), partial(name, orders), partial(role, orders))


def streams(orders: Orders) -> list[str]:
    """What is recorded: with a rate, when messages were due stands beside when they were sent."""
    paced, asks = orders.paced, orders.confirms > 0
    if orders.kind == "server":
        return ["received", *(["service"] if paced else [])]
    return ["sent", "error", *(["handover"] if paced else []), *(["confirmed"] if asks else [])]


def name(orders: Orders, place: int) -> str:
    """``client-1.2``, or as a server names the second copy of its messages, ``client-1.2@2``."""
    copies = orders.copies if orders.kind == "server" else 1
    thread, copy = divmod(place, copies)
    sender = orders.sender(thread)
    return f"{sender}@{copy + 1}" if copies > 1 else sender


if __name__ == "__main__":
    main()
