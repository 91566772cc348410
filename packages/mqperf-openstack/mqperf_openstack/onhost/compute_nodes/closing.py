"""Closing many connections in parallel: one after the other would take too long."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from mqperf_amqp_0_9_1.onhost.connection import Connection

AT_ONCE = 64


def close_all(connections: Iterable[Connection], timeout_s: float) -> int:
    """Close all of them; return how many closings the broker did not answer in time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answered = list(pool.map(lambda connection: connection.close(timeout_s), connections))
    return answered.count(False)
