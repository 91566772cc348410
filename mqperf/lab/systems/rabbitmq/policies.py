"""The RabbitMQ policies for each kind of queue."""

from collections.abc import Mapping

from pydantic import JsonValue

POLICIES: Mapping[str, Mapping[str, Mapping[str, JsonValue]]] = {
    "classic": {},
    "mirrored": {
        "ha-all": {
            "pattern": r"^(?!amq\.).*",
            "definition": {"ha-mode": "all"},
            "apply-to": "queues",
        }
    },
    "quorum": {},
    "stream": {},
    "declared": {},
}
"""Policies by kind of queue, then by name."""
