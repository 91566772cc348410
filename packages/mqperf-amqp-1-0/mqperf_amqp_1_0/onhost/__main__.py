"""Run as ``python -m mqperf_amqp_1_0.onhost ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf_amqp_1_0.onhost import orders as told
from mqperf_amqp_1_0.onhost.orders import Orders
from mqperf_amqp_1_0.onhost.receiver import Receiver
from mqperf_amqp_1_0.onhost.sender import Sender
from mqperf_amqp_1_0.onhost.unsettled import REFUSALS
from mqperf_numbered.onhost.process import live


def main() -> None:
    """Be the client or server that the orders say."""
    orders = told.read(Path(sys.argv[1]))
    role = Sender if orders.kind == "client" else Receiver
    live("amqp-1.0", orders, streams(orders), orders.sender, partial(role, orders))


def streams(orders: Orders) -> list[str]:
    """What is recorded: with a rate, when messages were due stands beside when they were sent."""
    paced = orders.paced
    if orders.kind == "server":
        return ["received", *(["service"] if paced else [])]
    settles = [] if orders.settled else ["confirmed", *REFUSALS]
    return ["sent", "error", *(["handover"] if paced else []), *settles]


if __name__ == "__main__":
    main()
