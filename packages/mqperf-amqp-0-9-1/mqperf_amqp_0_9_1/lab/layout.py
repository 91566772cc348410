"""Exchange, routing key and queues of each thread of a load.

A thread's messages reach its own queues only, whatever the type of the exchange, so that the number
of deliveries of each is known.  Names have a fixed width, so that deliveries have a fixed length.
"""

from collections.abc import Iterator
from typing import Any

from mqperf.plan import Case
from mqperf_amqp_0_9_1.onhost.dead_letters import dead_letter_queue
from mqperf_amqp_0_9_1.plan.parameters import Parameters, of_case

HEADER = "thread"
"""The header by which an exchange of type headers routes."""


def threads(case: Case, key: str, process: int) -> Iterator[dict[str, Any]]:
    """Yield the threads of a client process, or of the server process of the same number."""
    parameters = of_case(case)
    for index in range(case.green_threads):
        number = (process - 1) * case.green_threads + index
        yield _thread(parameters, key, number, alone=case.threads == 1)


def queues(case: Case, key: str) -> list[str]:
    """Return all queues of a load that are bound to its exchanges."""
    copies = of_case(case).copies
    return [name for number in range(case.threads) for name in _queues(key, number, copies)]


def declared(case: Case, key: str) -> list[str]:
    """Return all queues of a load, including those of dead letters."""
    bound = queues(case, key)
    dead = [] if of_case(case).dead_letters is None else map(dead_letter_queue, bound)
    return [*bound, *dead]


def _thread(parameters: Parameters, key: str, number: int, *, alone: bool) -> dict[str, Any]:
    kind = parameters.exchange_type
    digits = f"{number + 1:06d}"
    prefix = parameters.routing_key or "stress"
    routing_key = prefix if alone else f"{prefix}.{digits}"
    exchange = parameters.exchange or f"{key}.{kind}"
    by_header = {HEADER: digits} if kind == "headers" else {}
    return {
        "number": number,
        # a fan-out ignores keys: threads with a common exchange would get each other's messages
        "exchange": f"{exchange}.{digits}" if kind == "fanout" and not alone else exchange,
        "routing_key": routing_key,
        "headers": by_header,
        "queues": _queues(key, number, parameters.copies),
        "binding_key": _pattern(routing_key) if kind == "topic" else routing_key,
        "binding": {"x-match": "all", **by_header} if by_header else {},
    }


def _pattern(routing_key: str) -> str:
    """Return the key with a wildcard as its first word, so that the broker matches topics."""
    return ".".join(["*", *routing_key.split(".")[1:]])


def _queues(key: str, number: int, copies: int) -> list[str]:
    return [f"{key}.{number + 1:06d}.{copy + 1:04d}" for copy in range(copies)]
