"""A generator of streams' traffic: publishers and consumers with frames of their own."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mqperf.lab.load.launcher import Access, Job, Launcher
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf.record.outputs import diary
from mqperf_numbered.lab.commands import described, with_orders
from mqperf_numbered.lab.environment import Program
from mqperf_streams.plan.parameters import GENERATOR, of_case

PROGRAM = Program(
    title="the generator of streams",
    name="mqperf_streams.onhost",
    modules=("publisher", "consumer"),
)


def queues(case: Case, key: str) -> list[str]:
    """The stream of each thread of all processes; names have a fixed width."""
    return [f"{key}.{number + 1:06d}" for number in range(case.threads)]


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Where consumers begin."""
    parameters = of_case(case)
    return {
        "stream": {"offset": parameters.offset, "credit": f"{parameters.chunk_credit} chunks"},
    }


def _orders(job: Job, member: Member) -> dict[str, Any]:
    case, names = job.case, queues(job.case, job.run_id)
    first = (member.number - 1) * case.green_threads
    numbers = range(first, first + case.green_threads)
    threads = [{"number": number, "stream": names[number]} for number in numbers]
    return of_case(case).ordered(case.threads) | {"threads": threads}


LAUNCHER = Launcher(
    name=GENERATOR.name,
    tool=PROGRAM.ensure,
    about=lambda _driver: "publishers and consumers of streams",
    try_out=PROGRAM.self_check,
    commands=partial(with_orders, PROGRAM, _orders),
    describe=partial(described, PROGRAM),
    typed=False,
    check=partial(diary.check, GENERATOR.name),
    drivers={"rabbitmq": GENERATOR.name},
    options=options,
    queues=queues,
)
