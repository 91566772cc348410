"""A generator of NATS's traffic: publishers and subscribers with a codec of their own."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mqperf.lab.load.launcher import Access, Job, Launcher
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf.record.outputs import diary
from mqperf_nats.plan.parameters import GENERATOR, of_case
from mqperf_nats.plan.queues import STREAMS
from mqperf_numbered.lab.commands import described, with_orders
from mqperf_numbered.lab.environment import Program

PROGRAM = Program(
    title="the generator of NATS",
    name="mqperf_nats.onhost",
    modules=("publisher", "subscriber", "removal"),
)


def subjects(case: Case, key: str) -> list[str]:
    """The subject of each thread of all processes; names have a fixed width.

    A stream is called as its subject, and no dot can be in its name.
    """
    return [f"{key.replace('.', '_')}-{number + 1:06d}" for number in range(case.threads)]


def queues(case: Case, key: str) -> list[str]:
    """The streams of a run."""
    return subjects(case, key) if case.queues in STREAMS else []


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """How streams are made and consumed; core NATS has no options."""
    stream, parameters = STREAMS.get(case.queues), of_case(case)
    if stream is None:
        return {}
    return {
        "stream": {"storage": stream.storage, "replicas": str(stream.replicas)},
        "consumer": {"acks": parameters.acks, "max_ack_pending": str(parameters.prefetch)},
    }


def _orders(job: Job, member: Member) -> dict[str, Any]:
    case, stream = job.case, STREAMS.get(job.case.queues)
    first = (member.number - 1) * case.green_threads
    names = subjects(case, job.run_id)
    numbers = range(first, first + case.green_threads)
    return of_case(case).ordered(case.threads) | {
        "threads": [{"number": number, "subject": names[number]} for number in numbers],
        "storage": None if stream is None else stream.storage,
        "replicas": 1 if stream is None else stream.replicas,
    }


LAUNCHER = Launcher(
    name=GENERATOR.name,
    tool=PROGRAM.ensure,
    about=lambda _driver: "publishers and subscribers of NATS",
    try_out=PROGRAM.self_check,
    commands=partial(with_orders, PROGRAM, _orders),
    describe=partial(described, PROGRAM),
    typed=False,
    check=partial(diary.check, GENERATOR.name),
    options=options,
    queues=queues,
)
