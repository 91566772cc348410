"""Any command as a load generator: it is run repeatedly, and timed from outside."""

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.version import version
from mqperf.hosts.software import ALONE, Machine, path_of
from mqperf.lab.load.launcher import Command, Endpoint, Launcher, LoadJob
from mqperf.plan.load import Kind, Member
from mqperf.record.messages import read_header
from mqperf_command.plan.parameters import words_of

PROGRAM = "mqperf_command.onhost"

ENDPOINT = "MQPERF_ENDPOINT_FILE"
"""Variable with the path of a file with the system's URL, which only its owner can read."""

AUTHORITY = "MQPERF_AUTHORITY_FILE"
"""Variable with the path of the PEM certificate of the authority that signed the system's; set if
the URL's scheme is amqps."""


@dataclass(frozen=True, slots=True)
class Runner:
    """The program that runs commands on a host.

    ``inside`` are the folders of its imports, ``path`` is the host's ``PATH``.
    """

    python: str
    inside: tuple[Path, ...]
    path: str
    versions: Mapping[str, str]

    def check(self) -> None:
        """Do nothing: it depends on nothing that could change."""


def tool(_driver: str, machine: Machine) -> Runner:
    """Return the program on a host."""
    versions = {"python": machine.platform.python, "mqperf": version()}
    return Runner(machine.python, path_of(PROGRAM, machine), machine.path, versions)


def commands(job: LoadJob) -> list[Command]:
    """Return the commands of a run's processes, which are clients only."""
    if not isinstance(job.tool, Runner):
        raise TypeError(f"commands are run by a Runner, not by {job.tool!r}")
    runner = job.tool
    env = {
        "PATH": runner.path,
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(map(str, runner.inside)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def command(member: Member) -> Command:
        task, files = f"{member.label}.task", _endpoint(member, job.access.client)
        argv = (runner.python, *ALONE, "-m", PROGRAM, str(job.control / task))
        variables = {name: str(job.control / file) for name, (file, _) in files.items()}
        texts = {task: json.dumps(_task(job, member, variables)), **dict(files.values())}
        return Command(member.label, member.kind, argv, env, texts)

    return [command(member) for member in job.members]


def _endpoint(member: Member, endpoint: Endpoint) -> Mapping[str, tuple[str, str]]:
    """Return, by variable, name and text of the files with the system's URL and certificate."""
    url, authority = f"{member.label}.url", endpoint.authority
    if not authority:
        return {ENDPOINT: (url, endpoint.url("amqp"))}
    return {
        ENDPOINT: (url, endpoint.url("amqps")),
        AUTHORITY: (f"{member.label}.pem", authority),
    }


def _task(job: LoadJob, member: Member, variables: Mapping[str, str]) -> Mapping[str, object]:
    return {
        "label": member.label,
        "kind": member.kind,
        "test_case": job.case.test_case,
        "control": str(job.control),
        "out": str(job.out),
        "threads": job.case.green_threads,
        "seconds": job.case.load_s,
        "timeout_s": job.case.timeout_s,
        "argv": words_of(job.case),
        "variables": variables,
    }


def check(folder: Path, label: str, _kind: Kind) -> None:
    """Raise ``LoadError`` unless a process wrote its record."""
    read_header(folder / f"{label}.messages")


LAUNCHER = Launcher(
    name="command",
    tool=tool,
    about=lambda _driver: "a command of yours",
    try_out=lambda driver, machine: tool(driver, machine).versions,
    commands=commands,
    describe=lambda case: [shlex.join(words_of(case))],
    check=check,
    drivers={"rabbitmq": "any"},
)
