"""Which exchange, key and queues each thread of a load has.

A thread's messages reach its own queues and no other's, whatever the type of the exchange, so that
it is known how often each is to be delivered.  Names have a fixed width: so have deliveries.
"""

from collections.abc import Iterator
from typing import Any

from mqperf.plan import Case
from mqperf_amqp_0_9_1.onhost.dead_letters import dead_letter_queue
from mqperf_amqp_0_9_1.plan.parameters import Parameters, of_case

HEADER = "thread"
"""The header by which an exchange of type headers routes."""


def threads(case: Case, key: str, process: int) -> Iterator[dict[str, Any]]:
    """The threads of a client process, and of the server process beside it."""
    parameters = of_case(case)
    for place in range(case.green_threads):
        number = (process - 1) * case.green_threads + place
        yield _thread(parameters, key, number, alone=case.threads == 1)


def queues(case: Case, key: str) -> list[str]:
    """All queues of a load that its exchanges lead to."""
    copies = of_case(case).copies
    return [name for number in range(case.threads) for name in _queues(key, number, copies)]


def declared(case: Case, key: str) -> list[str]:
    """All queues of a load, those of dead letters among them."""
    bound = queues(case, key)
    dead = [] if of_case(case).dead_letters is None else map(dead_letter_queue, bound)
    return [*bound, *dead]


def _thread(parameters: Parameters, key: str, number: int, *, alone: bool) -> dict[str, Any]:
    kind = parameters.exchange_type
    digits = f"{number + 1:06d}"
    begin = parameters.routing_key or "stress"
    routing_key = begin if alone else f"{begin}.{digits}"
    exchange = parameters.exchange or f"{key}.{kind}"
    by_header = {HEADER: digits} if kind == "headers" else {}
    return {
        "number": number,
        # a fan-out asks for no key: threads that shared one would get each other's messages
        "exchange": f"{exchange}.{digits}" if kind == "fanout" and not alone else exchange,
        "routing_key": routing_key,
        "headers": by_header,
        "queues": _queues(key, number, parameters.copies),
        "binding_key": _pattern(routing_key) if kind == "topic" else routing_key,
        "binding": {"x-match": "all", **by_header} if by_header else {},
    }


def _pattern(routing_key: str) -> str:
    """The key with a wildcard in the place of its first word, so that the topic is matched."""
    return ".".join(["*", *routing_key.split(".")[1:]])


def _queues(key: str, number: int, copies: int) -> list[str]:
    return [f"{key}.{number + 1:06d}.{copy + 1:04d}" for copy in range(copies)]
