"""The processes of one run, each with its orders in a file."""

from collections.abc import Mapping
from typing import Any

from mqperf.lab.load.launcher import Access, Job
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf_amqp_1_0.plan.parameters import of_case
from mqperf_numbered.lab.commands import addresses, threads
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


def orders(job: Job, member: Member) -> dict[str, Any]:
    """What one is ordered beyond what all are."""
    case, form = job.case, getattr(job.access, member.kind).queue_address
    names = [form.format(address) for address in addresses(case, job.run_id)]
    return of_case(case).ordered(case.threads) | {"threads": threads(case, member, names)}
