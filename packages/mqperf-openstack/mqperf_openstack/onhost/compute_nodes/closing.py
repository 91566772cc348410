"""The end of many connections: one after the other, each waiting for its answer, takes too long."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from mqperf_amqp_0_9_1.onhost.connection import Connection

AT_ONCE = 64


def close_all(connections: Iterable[Connection], timeout_s: float) -> int:
    """Say goodbye on all of them; how many the broker did not answer in so long."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answered = list(pool.map(lambda connection: connection.close(timeout_s), connections))
    return answered.count(False)
