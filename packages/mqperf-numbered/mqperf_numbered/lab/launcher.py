"""Launches generators whose processes read their orders, passwords included, from files."""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from mqperf.hosts.software import ALONE
from mqperf.lab.load.launcher import Command, Endpoint, Launcher, LoadJob
from mqperf.plan import Case
from mqperf.plan.load import GENERATORS, Member
from mqperf.record.outputs import diary
from mqperf_numbered.lab.environment import Environment, Program, variables
from mqperf_numbered.plan.paced import Paced


def launcher(
    name: str, program: Program, about: str, extra: Callable[[LoadJob, Member], Mapping[str, Any]]
) -> Launcher:
    """Return the launcher of the generator of this name.

    ``extra`` returns the orders of a process beyond those common to all generators.
    """
    return Launcher(
        name=name,
        tool=program.ensure,
        about=lambda _driver: about,
        try_out=program.self_check,
        commands=partial(with_orders, program, extra),
        describe=partial(described, program),
        typed=False,
        check=partial(diary.check, name),
    )


def with_orders(
    program: Program, extra: Callable[[LoadJob, Member], Mapping[str, Any]], job: LoadJob
) -> list[Command]:
    """Return the commands of a job, servers first; ``extra`` as for ``launcher``."""
    if not isinstance(job.tool, Environment):
        raise TypeError(f"the generator runs in an Environment, not in {job.tool!r}")
    prefix, env = (job.tool.python, *ALONE, "-m", program.name), variables(job.tool)
    return [
        Command(
            member.label,
            member.kind,
            (*prefix, str(job.control / orders_of(member))),
            env,
            {orders_of(member): json.dumps({**_common_orders(job, member), **extra(job, member)})},
        )
        for member in job.members
    ]


def described(program: Program, case: Case) -> list[str]:
    """Describe the processes; the files of their orders, with passwords, are written by a run."""
    return [
        f"{member.label}: {program.title}, which reads {orders_of(member)}"
        for member in GENERATORS[case.generator].members(case)
    ]


def addresses(case: Case, key: str) -> list[str]:
    """Return the address of each thread of all processes; names have a fixed width."""
    return [f"{key}.{number + 1:06d}" for number in range(case.threads)]


def threads(case: Case, member: Member, addresses: Sequence[str]) -> list[dict[str, object]]:
    """Return the threads of a client process, or of the server process of the same number."""
    first = (member.number - 1) * case.green_threads
    numbers = range(first, first + case.green_threads)
    return [{"number": number, "address": addresses[number]} for number in numbers]


def orders(
    of_case: Callable[[Case], Paced], job: LoadJob, member: Member, *, dots: str = "."
) -> dict[str, Any]:
    """Return the orders of a process of a paced load: its parameters, and its threads.

    ``dots`` replace the dots of addresses, for brokers that do not allow these.
    """
    case, template = job.case, getattr(job.access, member.kind).queue_address
    names = [template.format(name.replace(".", dots)) for name in addresses(case, job.run_id)]
    return of_case(case).ordered(case.threads) | {"threads": threads(case, member, names)}


def orders_of(member: Member) -> str:
    """The name of the file of a process's orders."""
    return f"{member.label}.orders"


def _common_orders(job: LoadJob, member: Member) -> dict[str, Any]:
    """Return the orders that all generators have: identity, broker, length and size of the load."""
    case = job.case
    endpoint: Endpoint = getattr(job.access, member.kind)
    return {
        "label": member.label,
        "kind": member.kind,
        "test_case": case.test_case,
        "run": zlib.crc32(job.run_id.encode()),
        "control": str(job.control),
        "out": str(job.out),
        "broker": {
            "addresses": list(endpoint.addresses),
            "user": endpoint.user,
            "password": endpoint.password,
            "vhost": endpoint.vhost or "/",
            "authority": endpoint.authority,
        },
        "threads_per_process": case.green_threads,
        "all_threads": case.threads,
        "load_s": case.load_s,
        "timeout_s": case.timeout_s,
        "limits_s": [] if case.fail_when is None else [*case.fail_when.percentiles.values()],
    }
