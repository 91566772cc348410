"""A load of declarations: queues that are declared, bound and deleted, again and again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mqperf.lab.load.launcher import Job
from mqperf.plan.load import Kind, Member
from mqperf.record.messages import read_header
from mqperf_amqp_0_9_1.lab.launcher import ARGUMENTS
from mqperf_amqp_0_9_1.plan.declarations import of_case
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import addresses, launcher

PROGRAM = Program(
    title="the declarations of AMQP 0-9-1",
    name="mqperf_amqp_0_9_1.onhost.declarations",
    modules=("declarer",),
)


def _orders(job: Job, member: Member) -> dict[str, Any]:
    """Each thread declares a queue of its own."""
    case = job.case
    first = (member.number - 1) * case.green_threads
    return {
        "queues": addresses(case, job.run_id)[first : first + case.green_threads],
        "queue_arguments": dict(ARGUMENTS[case.queues]),
        "bindings": of_case(case).bindings,
    }


def check(folder: Path, label: str, _kind: Kind) -> None:
    """Raise ``LoadError`` unless a process left its record."""
    read_header(folder / f"{label}.messages")


LAUNCHER = replace(
    launcher("declarations", PROGRAM, "declarations by AMQP 0-9-1", _orders),
    check=check,
    drivers={"rabbitmq": "amqp-0-9-1"},
    queues=addresses,
)
