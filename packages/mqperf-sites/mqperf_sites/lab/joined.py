"""What joins two sites: the definitions of a run's virtual host in both brokers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mqperf.lab.load import Endpoint
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Definitions
from mqperf.plan import Case
from mqperf.plan.load import clients
from mqperf_amqp_0_9_1.lab import layout
from mqperf_amqp_0_9_1.plan.parameters import of_case
from mqperf_sites.plan.topologies import FEDERATED, SHOVEL

PLUGINS = ("rabbitmq_shovel", "rabbitmq_federation")
UPSTREAM = "near"
DURABLE = {"durable": True, "arguments": {}}
Acks = Literal["on-confirm", "on-publish", "no-ack"]
Policies = Mapping[str, Mapping[str, Any]]


def near(
    case: Case, run_id: str, both: Sequence[Endpoint], prefetch: int, acks: Acks
) -> Definitions:
    """Return the definitions at the clients' site: exchanges, queues, bindings, and shovels.

    They are needed since servers, which declare what they consume, are at the other site.
    """
    if case.topology not in (SHOVEL, FEDERATED):
        return {}
    processes = (layout.threads(case, run_id, member.number) for member in clients(case))
    threads = [thread for process in processes for thread in process]
    kind, queues = of_case(case).exchange_type, layout.queues(case, run_id)
    exchanges = dict.fromkeys(thread["exchange"] for thread in threads)
    shovels = [_shovel(queue, both, prefetch, acks) for queue in queues]
    return {
        "exchanges": [
            {"name": name, "type": kind, "internal": False, "auto_delete": True, **DURABLE}
            for name in exchanges
        ],
        "queues": [{"name": name, "auto_delete": False, **DURABLE} for name in queues],
        "bindings": [_binding(thread, queue) for thread in threads for queue in thread["queues"]],
        "parameters": shovels if case.topology == SHOVEL else [],
    }


def far(case: Case, both: Sequence[Endpoint], prefetch: int, acks: Acks) -> Definitions:
    """Return the definitions at the servers' site: the upstream of federated queues."""
    if case.topology != FEDERATED:
        return {}
    value = {"uri": both[0].url("amqp"), "prefetch-count": prefetch, "ack-mode": acks}
    return {"parameters": [_parameter("federation-upstream", UPSTREAM, value)]}


def policies(case: Case) -> Policies:
    """Return the policies by which queues at the servers' site are federated."""
    if case.topology != FEDERATED:
        return {}
    definition = {"federation-upstream": UPSTREAM}
    return {"federated": {"pattern": ".*", "apply-to": "queues", "definition": definition}}


def _shovel(queue: str, both: Sequence[Endpoint], prefetch: int, acks: Acks) -> dict[str, Any]:
    source, destination = (endpoint.url("amqp") for endpoint in both)
    value = {
        "src-protocol": "amqp091",
        "src-uri": source,
        "src-queue": queue,
        "src-prefetch-count": prefetch,
        "dest-protocol": "amqp091",
        "dest-uri": destination,
        "dest-queue": queue,
        "ack-mode": acks,
    }
    return _parameter("shovel", queue, value)


def _parameter(component: str, name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"component": component, "name": name, "value": {**value}}


def _binding(thread: Mapping[str, Any], queue: str) -> dict[str, Any]:
    return {
        "source": thread["exchange"],
        "destination": queue,
        "destination_type": "queue",
        "routing_key": thread["binding_key"],
        "arguments": thread["binding"],
    }
