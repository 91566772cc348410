"""What RabbitMQ speaks beside AMQP 0-9-1: AMQP 1.0 by itself since 4.0, streams by a plugin."""

from dataclasses import replace

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.base.releases import parsed
from mqperf.lab.load import LAUNCHERS, Endpoint
from mqperf.plan import Case

BEGAN = (4,)
"""The first version that speaks it."""

DRIVER = "amqp-1.0"
STREAM = "rabbitmq-stream"
ADDRESS = "/queues/{}"
"""How an address names a queue."""


def queues(case: Case, run_id: str, version: str) -> dict[str, dict[str, JsonValue]]:
    """What AMQP 1.0 needs declared for a run, by name with its arguments; nothing for others.

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
    """Whether the load of a case speaks AMQP 1.0."""
    return LAUNCHERS[case.generator].drivers.get(case.system) == DRIVER


def streamed(case: Case) -> bool:
    """Whether the load of a case speaks the stream protocol, which has ports of its own."""
    return LAUNCHERS[case.generator].drivers.get(case.system) == STREAM


def check_streams(*, switched_on: bool) -> None:
    """Raise ``SystemFault`` where no node speaks the stream protocol on a known port."""
    if not switched_on:
        raise SystemFault(
            "rabbitmq: nodes speak the stream protocol in a cluster that mqperf starts, with the"
            " plugin: set settings: {streams: true} of rabbitmq in the plan"
        )


def endpoint(case: Case, other: Endpoint) -> Endpoint:
    """Where the load of a case connects: the same port takes both versions of AMQP."""
    if streamed(case):
        return replace(other, protocol="stream")
    if not spoken(case):
        return other
    return replace(other, protocol="amqp-1.0", queue_address=ADDRESS)
