"""AMQP 1.0 to RabbitMQ, which speaks it by itself since 4.0, and what it needs declared."""

from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from mqperf.base.errors import SystemFault
from mqperf.base.releases import parsed
from mqperf.lab.load import Endpoint
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Definitions
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.plan import Case
from mqperf_amqp_1_0.plan.parameters import GENERATOR
from mqperf_numbered.lab.launcher import addresses

BEGAN = (4,)
"""The first version that speaks it."""

ADDRESS = "/queues/{}"
"""How an address names a queue."""


class NativeSettings(Settings):
    """No keys of a plan: queues are declared, and addresses name them as RabbitMQ asks for."""

    name: ClassVar = "amqp-1.0"

    @override
    def declared(self, case: Case, run_id: str, version: str) -> Definitions:
        if case.generator != GENERATOR.name:
            return super().declared(case, run_id, version)
        if parsed(version) < BEGAN:
            raise SystemFault(
                f"RabbitMQ {version} speaks AMQP 1.0 by a plugin only: plan version 4.0 or later"
            )
        return {
            "queues": [
                {
                    "name": name,
                    "durable": True,
                    "auto_delete": False,
                    "arguments": {"x-queue-type": case.queues},
                }
                for name in addresses(case, run_id)
            ]
        }

    @override
    def reached(self, case: Case, endpoint: Endpoint) -> Endpoint:
        if case.generator != GENERATOR.name:
            return super().reached(case, endpoint)
        return replace(endpoint, protocol=GENERATOR.name, queue_address=ADDRESS)
