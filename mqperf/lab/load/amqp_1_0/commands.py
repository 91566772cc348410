"""The processes of one run, each with its orders in a file."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mqperf.lab.load.amqp_1_0 import layout
from mqperf.lab.load.launcher import Access, Job
from mqperf.lab.load.numbered.commands import described, with_orders
from mqperf.lab.load.numbered.environment import Program
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf.plan.load.amqp_1_0 import of_case

PROGRAM = Program(
    title="the generator of AMQP 1.0",
    name="mqperf.onhost.load.amqp_1_0",
    modules=("sender", "receiver"),
)


def options(case: Case, access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """How links of the load are."""
    parameters = of_case(case)
    mechanism = "PLAIN" if access.client.user else "ANONYMOUS"
    return {
        "connection": {"sasl": mechanism},
        "link": {"settlement": parameters.settlement, "credit": str(parameters.credit)},
    }


def _orders(job: Job, one: Member) -> dict[str, Any]:
    case, parameters = job.case, of_case(job.case)
    return {
        "threads": layout.threads(case, job.run_id, one.number),
        "links": parameters.links,
        **parameters.of_thread(case.threads),
        "payload_bytes": parameters.payload_bytes,
        "payload_spread": parameters.payload_spread or 0.0,
        "settled": parameters.settlement == "pre-settled",
        "credit": parameters.credit,
        "durable": parameters.delivery == "persistent",
        "priority": parameters.priority,
        "ttl_ms": parameters.ttl_ms,
    }


commands = partial(with_orders, PROGRAM, _orders)
describe = partial(described, PROGRAM)
