"""Launchers of closed loops, whose clients wait for each reply: requests, and declarations."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from mqperf.lab.load.launcher import Launcher, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import Kind, Member
from mqperf.record.messages import read_header
from mqperf_amqp_0_9_1.lab.launcher import ARGUMENTS
from mqperf_amqp_0_9_1.plan import declarations, requests
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import addresses, launcher


def _closed_loop(name: str, about: str, of_case: Callable[[Case], BaseModel]) -> Launcher:
    """Return the launcher of that name; each thread has a queue of its own.

    ``of_case`` returns the parameters that are ordered of all processes, beside their queues.
    """

    def orders(job: LoadJob, member: Member) -> dict[str, Any]:
        case = job.case
        first = (member.number - 1) * case.green_threads
        return {
            "queues": addresses(case, job.run_id)[first : first + case.green_threads],
            "queue_arguments": dict(ARGUMENTS[case.queues]),
            **of_case(case).model_dump(),
        }

    program = Program(title=about, name=f"mqperf_amqp_0_9_1.onhost.{name}")
    return replace(
        launcher(name, program, about, orders),
        check=_check,
        drivers={"rabbitmq": "amqp-0-9-1"},
        queues=addresses,
    )


def _check(folder: Path, label: str, _kind: Kind) -> None:
    """Raise ``LoadError`` unless a process wrote its record."""
    read_header(folder / f"{label}.messages")


REQUESTS = _closed_loop(
    requests.GENERATOR.name, "requests and replies by AMQP 0-9-1", requests.of_case
)
DECLARATIONS = _closed_loop(
    declarations.GENERATOR.name, "declarations by AMQP 0-9-1", declarations.of_case
)
