"""AMQP 1.0, which RabbitMQ speaks by itself since 4.0: to queues that are declared before."""

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


def queues(case: Case, run_id: str, version: str) -> dict[str, dict[str, JsonValue]]:
    """What is to be declared for a run, by name with its arguments; nothing for other protocols.

    Raises ``SystemFault`` for a version that does not speak it.
    """
    if not spoken(case):
        return {}
    if parsed(version) < BEGAN:
        raise SystemFault(
            f"RabbitMQ {version} speaks AMQP 1.0 by a plugin only: plan version 4.0 or later"
        )
    names = LAUNCHERS[case.generator].queues(case, run_id)
    return {name: {"x-queue-type": case.queues} for name in names}


def spoken(case: Case) -> bool:
    """Whether the load of a case speaks it."""
    return LAUNCHERS[case.generator].drivers.get(case.system) == DRIVER


def endpoint(case: Case, other: Endpoint) -> Endpoint:
    """Where the load of a case connects: the same port takes all protocols."""
    if not spoken(case):
        return other
    return replace(other, protocol="amqp-1.0", queue_address=ADDRESS)
