"""A generator of streams' traffic: publishers and consumers with frames of their own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mqperf.lab.load.launcher import Access, Job
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf_numbered.lab.commands import addresses, threads
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import launcher
from mqperf_streams.plan.parameters import GENERATOR, of_case

PROGRAM = Program(
    title="the generator of streams",
    name="mqperf_streams.onhost",
    modules=("publisher", "consumer"),
)


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Where consumers begin."""
    parameters = of_case(case)
    return {
        "stream": {"offset": parameters.offset, "credit": f"{parameters.chunk_credit} chunks"},
    }


def _orders(job: Job, member: Member) -> dict[str, Any]:
    case, names = job.case, addresses(job.case, job.run_id)
    return of_case(case).ordered(case.threads) | {"threads": threads(case, member, names)}


LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "publishers and consumers of streams", _orders),
    drivers={"rabbitmq": GENERATOR.name},
    options=options,
    queues=addresses,
)
