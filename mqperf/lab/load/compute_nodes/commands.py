"""The processes of one run, each with its orders in a file."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mqperf.lab.load.amqp_0_9_1.commands import ARGUMENTS
from mqperf.lab.load.compute_nodes.environment import PROGRAM
from mqperf.lab.load.compute_nodes.layout import layout_of
from mqperf.lab.load.launcher import Access, Job
from mqperf.lab.load.numbered.commands import described, with_orders
from mqperf.onhost.load.compute_nodes.orders import HEARTBEAT_S
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf.plan.load.compute_nodes import of_case
from mqperf.plan.load.matrix import matrix, reply, request


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """What queues and connections of the load are."""
    nodes = of_case(case).compute_nodes
    return {
        "queue": {"durable": "true", **ARGUMENTS[case.queues]},
        "connection": {"heartbeat_s": str(HEARTBEAT_S), "of each node": "2", "nodes": str(nodes)},
    }


def _orders(job: Job, one: Member) -> dict[str, Any]:
    case, layout = job.case, layout_of(job.case, job.run_id)
    messages = matrix().messages
    bodies = [
        *map(request, messages),
        *(reply(kind) if kind.reply_bytes else "" for kind in messages),
    ]
    told: dict[str, Any] = (
        {"senders": list(layout.senders(one.number)), "bodies": bodies}
        if one.kind == "client"
        else {"boxes": list(layout.boxes(one.number))}
    )
    return told | {
        "nodes": layout.nodes,
        "processes": layout.processes,
        "queue_arguments": dict(ARGUMENTS[case.queues]),
    }


commands = partial(with_orders, PROGRAM, _orders)
describe = partial(described, PROGRAM)
