"""The launcher of publishers and consumers of AMQP 0-9-1, which need no client library."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mqperf.base.errors import LoadError
from mqperf.lab.load.launcher import Access, Command, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import Member
from mqperf.plan.topologies import QUEUES
from mqperf_amqp_0_9_1.lab import layout
from mqperf_amqp_0_9_1.onhost import priorities
from mqperf_amqp_0_9_1.onhost.dead_letters import arguments
from mqperf_amqp_0_9_1.plan.parameters import GENERATOR, of_case
from mqperf_numbered.lab.environment import Program
from mqperf_numbered.lab.launcher import launcher, with_orders
from mqperf_numbered.plan.mixes import mix_of

PROGRAM = Program("the generator of AMQP 0-9-1", "mqperf_amqp_0_9_1.onhost")

ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "classic": {},
    "mirrored": {},
    "quorum": {"x-queue-type": "quorum"},
    "stream": {"x-queue-type": "stream"},
}
"""Arguments of queues by their kind; queues are mirrored by a policy of the broker."""

BODY = "body"
"""The file in the control folder with the body of every message, in base 64."""


def commands(job: LoadJob) -> list[Command]:
    """Return the commands of a job, servers first; passwords are in the files of orders only.

    A body from a file is written once on every host of clients, before the first of them starts.
    """
    every = with_orders(PROGRAM, orders, job)
    name = of_case(job.case).payload_file
    for index, command in enumerate(every):
        if name is not None and command.kind == "client":
            if name not in job.files:
                raise LoadError(f"{name}: was not read with the plan: run the plan from its file")
            body = b64encode(job.files[name]).decode()
            every[index] = replace(command, files={**command.files, BODY: body})
            break
    return every


def queue_arguments(case: Case) -> dict[str, Any]:
    """Return the arguments of a case's queues: those of their kind, and those for priorities."""
    of_kind = ARGUMENTS[case.queues]
    return {**of_kind, **priorities.arguments(of_case(case).urgent_share, of_kind)}


def options(case: Case, _access: Access, _address: str) -> Mapping[str, Mapping[str, str]]:
    """Return the options of the queues and the exchange of the load."""
    parameters = of_case(case)
    rejecting = arguments("QUEUE", parameters.delivery_limit, parameters.dead_letters)
    declared = {**queue_arguments(case), **rejecting}
    queues = {"durable": "true", **{name: str(value) for name, value in declared.items()}}
    exchange = {"type": parameters.exchange_type, "durable": "true", "auto-delete": "true"}
    return {"queue": queues, "exchange": exchange}


def orders(job: LoadJob, member: Member) -> dict[str, Any]:
    """Return the orders of a process, beyond those that all generators have."""
    case, parameters = job.case, of_case(job.case)
    return {
        **parameters.ordered(case.threads),
        "threads": list(layout.threads(case, job.run_id, member.number)),
        "payload_mix": [] if parameters.payload_mix is None else mix_of(parameters.payload_mix),
        "body_file": None if parameters.payload_file is None else BODY,
        "in_body": parameters.payload is None and parameters.payload_file is None,
        "queue_arguments": queue_arguments(case),
        "log": QUEUES[case.queues].log,
    }


LAUNCHER = replace(
    launcher(GENERATOR.name, PROGRAM, "publishers and consumers of AMQP 0-9-1", orders),
    commands=commands,
    drivers={"rabbitmq": GENERATOR.name},
    options=options,
    queues=layout.declared,
)
