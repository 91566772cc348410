"""A process of pairs: publishers at a client, consumers at a server, with a connection each."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mqperf_numbered.onhost.consumer import Consumer, Inlet
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.orders import PairOrders, Thread, with_threads
from mqperf_numbered.onhost.process import live, recorded
from mqperf_numbered.onhost.publisher import Outlet, Publisher
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.waiting import Waiting

P = TypeVar("P", bound=PairOrders)


def live_as(
    generator: str,
    orders_of: type[P],
    outlet: Callable[[P, Thread, Record, Waiting, Diary], Outlet[Any]],
    inlet: Callable[[P, Thread, Consumer, Waiting, Diary], Inlet],
) -> None:
    """Run as the client or server of the orders, whose file is the program's argument."""
    orders = with_threads(orders_of, Path(sys.argv[1]))
    client, server = partial(Publisher, outlet, orders), partial(Consumer, inlet, orders)
    streams = recorded(orders, *(["confirmed"] if orders.confirms else []))
    live(generator, orders, streams, client if orders.kind == "client" else server)
