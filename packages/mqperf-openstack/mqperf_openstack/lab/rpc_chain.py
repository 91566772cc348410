"""Chains of RPCs between services, over oslo.messaging, as a load generator.

Client 1 is the control plane of the agents in server 1, and so on.  A creation begins in the API of
a client and ends when that client's control plane has the last update of the agent: its duration
is measured by one clock.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from mqperf.hosts.software import ALONE, Machine
from mqperf.lab.load import Command, Launcher, LoadJob
from mqperf.lab.load.oslo import releases
from mqperf.lab.load.oslo.drivers import options
from mqperf.lab.load.oslo.library import Library, library
from mqperf.lab.load.oslo.processes import config_files, topic, variables
from mqperf.plan import Case
from mqperf.plan.load import Kind, Member, pairs
from mqperf_openstack.plan.chain import Chain, Side, find
from mqperf_openstack.plan.rpc_chain import GENERATOR, of_case
from mqperf_openstack.plan.signs import sign_of
from mqperf_openstack.record import steps as steps_file

PROGRAM = "mqperf_openstack.onhost.chain"

SIDES: Mapping[str, Side] = {"client": "control", "server": "agents"}
"""Kind of process -> the side of a chain that it runs."""


def about(driver: str) -> str:
    """Return the release of oslo.messaging for a driver, as text."""
    return f"oslo.messaging {releases.find(driver).version} for {driver}"


def tool(driver: str, machine: Machine) -> Library:
    """Return the library and the program on a host."""
    title = f"The environment of chains ({about(driver)})"
    return library(title, releases.find(driver), machine, PROGRAM)


def commands(job: LoadJob) -> list[Command]:
    """Return the commands of a run's processes, servers first."""
    if not isinstance(job.tool, Library):
        raise TypeError(f"a chain runs in a Library, not in {job.tool!r}")
    env = variables(job.control, job.tool.path)
    program = (job.tool.python, *ALONE, "-m", PROGRAM)

    def command(member: Member) -> Command:
        file = f"{member.label}.chain"
        files = {**config_files(job, member.kind), file: json.dumps(_task(job, member))}
        return Command(member.label, member.kind, (*program, str(job.control / file)), env, files)

    return [command(member) for member in job.members]


def _task(job: LoadJob, member: Member) -> dict[str, JsonValue]:
    """Return the content of a process's task file."""
    case, parameters = job.case, of_case(job.case)
    chain = find(parameters.chain)
    return {
        "label": member.label,
        "kind": member.kind,
        "number": member.number,
        "test_case": case.test_case,
        "control": str(job.control),
        "out": str(job.out),
        "config": str(job.control / f"{member.kind}.conf"),
        "topic": topic(job.run_id),
        "threads": case.green_threads,
        "seconds": case.load_s,
        "timeout_s": case.timeout_s,
        "services": [*getattr(chain, SIDES[member.kind])],
        "chain": parameters.chain,
        "steps": steps(chain, parameters.processing_scale),
        "signs": dict[str, JsonValue](_signs(case, chain)),
    }


def _signs(case: Case, chain: Chain) -> dict[str, str]:
    """Return, by step number, the signs of the steps whose beginning an action waits for."""
    awaited = {action.parameters.get("step") for action in case.actions}
    return {
        str(number): sign_of(step.step)
        for number, step in enumerate(chain.steps)
        if step.step in awaited
    }


def steps(chain: Chain, scale: float) -> list[JsonValue]:
    """Return the steps as task files and the headers of ``.steps`` files have them."""
    return [
        {
            "step": step.step,
            "kind": step.kind,
            "from": step.sender,
            "to": step.receiver,
            "request_bytes": step.request_bytes,
            "reply_bytes": step.reply_bytes or 0,
            "processing_s": step.processing_ms * scale / 1000,
            "moves": chain.moves(number),
            "meanwhile": [*chain.meanwhile(number)],
            "receipt": number == chain.first_at_agents,
            "round_trips": chain.round_trips(number),
        }
        for number, step in enumerate(chain.steps)
    ]


def describe(case: Case) -> list[str]:
    """Return a line on each side, as there is no command that a person would type."""
    parameters = of_case(case)
    chain = find(parameters.chain)
    number = len(pairs(case)) // 2
    to_last = {kind: f" to {kind}-{number}" * (number > 1) for kind in ("server", "client")}
    return [
        f"server-1{to_last['server']}, agents: {', '.join(chain.agents)}",
        (
            f"client-1{to_last['client']}, control plane: {', '.join(chain.control)};"
            f" {case.green_threads} x {parameters.chain} ({len(chain.steps)} steps) at a time"
            f" for {case.load_s} s"
        ),
    ]


def queues(case: Case, run_id: str) -> list[str]:
    """Return the names of the queues that services declare by name.

    The queues of replies and of fan-outs have random names, and expire by themselves.
    """
    chain, prefix = find(of_case(case).chain), topic(run_id)
    names = []
    for member in pairs(case):
        for service in getattr(chain, SIDES[member.kind]):
            names += [f"{prefix}-{service}", f"{prefix}-{service}.{member.number}"]
    return list(dict.fromkeys(names))


def check(folder: Path, label: str, _kind: Kind) -> None:
    """Raise ``LoadError`` unless a process wrote a valid ``.steps`` file."""
    steps_file.read_header(steps_file.file_of(folder, label))


LAUNCHER = Launcher(
    name=GENERATOR.name,
    tool=tool,
    about=about,
    try_out=lambda driver, machine: tool(driver, machine).versions,
    commands=commands,
    describe=describe,
    typed=False,
    check=check,
    drivers={"rabbitmq": "rabbitmq"},
    options=options,
    queues=queues,
    library=releases.pinned,
)
