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
    """Run as the client or server of the orders."""
    orders = read(Orders, Path(sys.argv[1]))
    if orders.profile is not None:
        (orders.out / f"{orders.label}.traffic").write_text(orders.profile, encoding="utf-8")
    role = replayer if orders.kind == "client" else Consumer
    streams = recorded(orders, *(["confirmed"] if orders.confirms else []))
    live("traffic", orders, streams, partial(role, orders))


if __name__ == "__main__":
    main()
