"""The traffic of OpenStack's compute nodes and their controllers, as a load generator.

It sends the messages of `traffic.yaml`, with the codec and connections of the AMQP 0-9-1 generator.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mqperf.lab.load import Access, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf_amqp_0_9_1.lab.launcher import ARGUMENTS
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import launcher
from mqperf_openstack.lab.layout import layout_of, queues
from mqperf_openstack.onhost.compute_nodes.orders import HEARTBEAT_S
from mqperf_openstack.plan.compute_nodes import GENERATOR, of_case
from mqperf_openstack.plan.matrix import matrix, reply, request

PROGRAM = Program("the generator of compute nodes", "mqperf_openstack.onhost.compute_nodes")


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Return the options of the load's queues and connections."""
    nodes = of_case(case).compute_nodes
    return {
        "queue": {"durable": "true", **ARGUMENTS[case.queues]},
        "connection": {"heartbeat_s": str(HEARTBEAT_S), "of each node": "2", "nodes": str(nodes)},
    }


def _orders(job: LoadJob, member: Member) -> dict[str, Any]:
    layout, messages = layout_of(job.case, job.run_id), matrix().messages
    replies = [reply(kind) if kind.reply_bytes else "" for kind in messages]
    orders: dict[str, Any] = (
        {
            "senders": list(layout.senders(member.number)),
            "bodies": [*map(request, messages), *replies],
        }
        if member.kind == "client"
        else {"boxes": list(layout.boxes(member.number))}
    )
    return orders | {
        "nodes": layout.nodes,
        "processes": layout.processes,
        "queue_arguments": dict(ARGUMENTS[job.case.queues]),
    }


LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "OpenStack's compute nodes over AMQP 0-9-1", _orders),
    drivers={"rabbitmq": "amqp-0-9-1"},
    options=options,
    queues=queues,
)
