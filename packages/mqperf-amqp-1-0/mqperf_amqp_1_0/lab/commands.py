"""The processes of one run, each with its orders in a file."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mqperf.lab.load.launcher import Access, Job
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf_amqp_1_0.lab import layout
from mqperf_amqp_1_0.plan.parameters import of_case
from mqperf_numbered.lab.commands import described, with_orders
from mqperf_numbered.lab.environment import Program

PROGRAM = Program(
    title="the generator of AMQP 1.0",
    name="mqperf_amqp_1_0.onhost",
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


def _orders(job: Job, member: Member) -> dict[str, Any]:
    form = getattr(job.access, member.kind).queue_address
    threads = layout.threads(job.case, job.run_id, member.number, form)
    return of_case(job.case).ordered(job.case.threads) | {"threads": threads}


commands = partial(with_orders, PROGRAM, _orders)
describe = partial(described, PROGRAM)
