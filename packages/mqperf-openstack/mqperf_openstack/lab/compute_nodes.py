"""The traffic of OpenStack's compute nodes and their controllers, as a load generator.

It sends what `traffic.yaml` says, with the parts of the generator of AMQP 0-9-1.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mqperf.lab.load import Access, Job, Launcher
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf.record.outputs import diary
from mqperf_amqp_0_9_1.lab.commands import ARGUMENTS
from mqperf_numbered.lab.commands import described, with_orders
from mqperf_numbered.lab.environment import Program
from mqperf_openstack.lab.layout import layout_of, queues
from mqperf_openstack.onhost.compute_nodes.orders import HEARTBEAT_S
from mqperf_openstack.plan.compute_nodes import GENERATOR, of_case
from mqperf_openstack.plan.matrix import matrix, reply, request

PROGRAM = Program(
    title="the generator of compute nodes",
    name="mqperf_openstack.onhost.compute_nodes",
    modules=("sending", "listening"),
)


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """What queues and connections of the load are."""
    nodes = of_case(case).compute_nodes
    return {
        "queue": {"durable": "true", **ARGUMENTS[case.queues]},
        "connection": {"heartbeat_s": str(HEARTBEAT_S), "of each node": "2", "nodes": str(nodes)},
    }


def _orders(job: Job, member: Member) -> dict[str, Any]:
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


LAUNCHER = Launcher(
    name=GENERATOR.name,
    tool=PROGRAM.ensure,
    about=lambda _driver: "OpenStack's compute nodes over AMQP 0-9-1",
    try_out=PROGRAM.self_check,
    commands=partial(with_orders, PROGRAM, _orders),
    describe=partial(described, PROGRAM),
    typed=False,
    check=partial(diary.check, GENERATOR.name),
    drivers={"rabbitmq": "amqp-0-9-1"},
    options=options,
    queues=queues,
)
