"""Declares super streams of RabbitMQ: streams that are bound to an exchange, in order.

The stream protocol can create them only since 3.13, so they are declared as ``rabbitmq-streams
add_super_stream`` does in every version; source: ``rabbit_stream_manager.erl`` of RabbitMQ.
"""

from collections.abc import Sequence
from typing import Any

from mqperf.lab.systems.rabbitmq.rabbitmqctl import Definitions

LASTING = {"durable": True, "auto_delete": False}


def super_streams(names: Sequence[str], partitions: int) -> Definitions:
    """Return super streams of these names, with partitions ``NAME-0``, ``NAME-1`` and so on."""
    numbered = [(name, number) for name in names for number in range(partitions)]
    return {
        "queues": [_stream(f"{name}-{number}") for name, number in numbered],
        "exchanges": [_exchange(name) for name in names],
        "bindings": [_binding(name, number) for name, number in numbered],
    }


def _stream(name: str) -> dict[str, Any]:
    return {"name": name, **LASTING, "arguments": {"x-queue-type": "stream"}}


def _exchange(name: str) -> dict[str, Any]:
    arguments = {"x-super-stream": True}
    return {"name": name, "type": "direct", "internal": False, **LASTING, "arguments": arguments}


def _binding(name: str, number: int) -> dict[str, Any]:
    return {
        "source": name,
        "destination": f"{name}-{number}",
        "destination_type": "queue",
        "routing_key": str(number),
        "arguments": {"x-stream-partition-order": number},
    }
