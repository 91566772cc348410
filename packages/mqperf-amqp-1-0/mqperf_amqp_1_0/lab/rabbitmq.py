"""AMQP 1.0 to RabbitMQ, which supports it without a plugin since 4.0; declares its queues."""

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

NATIVE_SINCE = (4,)
"""The first version with AMQP 1.0."""

ADDRESS = "/queues/{}"
"""The address of a queue."""


class NativeSettings(Settings):
    """Settings without keys of a plan: declare queues, and use RabbitMQ's addresses for them."""

    name: ClassVar = "amqp-1.0"

    @override
    def declared(self, case: Case, run_id: str, version: str) -> Definitions:
        if case.generator != GENERATOR.name:
            return super().declared(case, run_id, version)
        if parsed(version) < NATIVE_SINCE:
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
