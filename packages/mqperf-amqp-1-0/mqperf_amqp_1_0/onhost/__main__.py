"""Run as ``python -m mqperf_amqp_1_0.onhost ORDERS``: one client or server of a load."""

import sys
from functools import partial
from pathlib import Path

from mqperf_amqp_1_0.onhost.orders import read
from mqperf_amqp_1_0.onhost.receiver import Receiver
from mqperf_amqp_1_0.onhost.sender import Sender
from mqperf_amqp_1_0.onhost.unsettled import REFUSALS
from mqperf_numbered.onhost.process import live, recorded


def main() -> None:
    """Run as the client or server of the orders."""
    orders = read(Path(sys.argv[1]))
    role = Sender if orders.kind == "client" else Receiver
    streams = recorded(orders, *([] if orders.settled else ["confirmed", *REFUSALS]))
    live("amqp-1.0", orders, streams, partial(role, orders))


if __name__ == "__main__":
    main()
