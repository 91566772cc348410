"""AMQP 1.0, which RabbitMQ speaks by itself since 4.0, and what it needs declared."""

from dataclasses import replace

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.base.releases import parsed
from mqperf.lab.load import LAUNCHERS, Endpoint
from mqperf.plan import Case

BEGAN = (4,)
"""The first version that speaks it."""

DRIVER = "amqp-1.0"
ADDRESS = "/queues/{}"
"""How an address names a queue."""


def declared(case: Case, run_id: str, version: str) -> dict[str, list[dict[str, JsonValue]]]:
    """The queues that AMQP 1.0 needs for a run, as ``Definitions``; nothing for others.

    Raises ``SystemFault`` for a version that does not speak it.
    """
    if not spoken(case):
        return {}
    if parsed(version) < BEGAN:
        raise SystemFault(
            f"RabbitMQ {version} speaks AMQP 1.0 by a plugin only: plan version 4.0 or later"
        )
    names = LAUNCHERS[case.generator].queues(case, run_id)
    queue: dict[str, JsonValue] = {
        "durable": True,
        "auto_delete": False,
        "arguments": {"x-queue-type": case.queues},
    }
    return {"queues": [{"name": name, **queue} for name in names]}


def spoken(case: Case) -> bool:
    """Whether the load of a case speaks AMQP 1.0."""
    return driver(case) == DRIVER


def driver(case: Case) -> str:
    """By which the load of a case speaks to RabbitMQ."""
    return LAUNCHERS[case.generator].drivers.get(case.system, "")


def endpoint(case: Case, other: Endpoint) -> Endpoint:
    """Where the load of a case connects: the same port takes both versions of AMQP."""
    if not spoken(case):
        return other
    return replace(other, protocol="amqp-1.0", queue_address=ADDRESS)
