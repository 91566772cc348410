"""A load of declarations: queues that are declared, bound and deleted, again and again."""

from pathlib import Path
from typing import Any

from mqperf.lab.load.launcher import Command, Job, Launcher
from mqperf.plan import Case
from mqperf.plan.load import Kind, Member
from mqperf.record.messages import read_header
from mqperf_amqp_0_9_1.lab.commands import ARGUMENTS
from mqperf_amqp_0_9_1.plan.declarations import of_case
from mqperf_numbered.lab.commands import orders_of, with_orders
from mqperf_numbered.lab.environment import Program

PROGRAM = Program(
    title="the declarations of AMQP 0-9-1",
    name="mqperf_amqp_0_9_1.onhost.declarations",
    modules=("declarer",),
)


def _queue(key: str, number: int) -> str:
    return f"{key}.{number + 1:06d}"


def queues(case: Case, key: str) -> list[str]:
    """All queues of a load: each thread declares its own one, and no two at a time."""
    return [_queue(key, number) for number in range(case.threads)]


def _orders(job: Job, member: Member) -> dict[str, Any]:
    case = job.case
    first = (member.number - 1) * case.green_threads
    return {
        "queues": [_queue(job.run_id, first + place) for place in range(case.green_threads)],
        "queue_arguments": dict(ARGUMENTS[case.queues]),
        "bindings": of_case(case).bindings,
    }


def commands(job: Job) -> list[Command]:
    """The processes of a run: clients only."""
    return with_orders(PROGRAM, _orders, job)


def describe(case: Case) -> list[str]:
    """Who the processes are."""
    clients = range(1, case.processes * case.hosts + 1)
    return [
        f"{member.label}: {PROGRAM.title}, which reads {orders_of(member)}"
        for member in (Member("client", number) for number in clients)
    ]


def check(folder: Path, label: str, _kind: Kind) -> None:
    """Raise ``LoadError`` unless a process left its record."""
    read_header(folder / f"{label}.messages")


LAUNCHER = Launcher(
    name="declarations",
    tool=PROGRAM.ensure,
    about=lambda _driver: "declarations by AMQP 0-9-1",
    try_out=PROGRAM.self_check,
    commands=commands,
    describe=describe,
    typed=False,
    check=check,
    drivers={"rabbitmq": "amqp-0-9-1"},
    queues=queues,
)
