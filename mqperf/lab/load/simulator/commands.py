"""The oslo.messaging simulator: the commands of one run.

Every pair is one client process and one server process.  With targets ``own`` each pair has a topic
of its own; with ``shared`` all servers take from one topic, as in the reports of 2016.  The
simulator is strict about the order of its arguments: all that concerns both roles comes before the
mode, and ``-tg``, which takes any number of values, must not be the last of them.
"""

import hashlib
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from mqperf.hosts.software import ALONE
from mqperf.lab.load.launcher import Command, Job
from mqperf.lab.load.oslo.processes import config_files, topic, variables
from mqperf.lab.load.simulator.environments import Environment
from mqperf.plan import Case
from mqperf.plan.load import Member, pairs
from mqperf.plan.load.simulator import of_case

ANY_URL = "rabbit://USER:PASSWORD@HOST:5672/VHOST"


def commands(job: Job) -> list[Command]:
    """The processes of a run, servers first."""
    if not isinstance(job.tool, Environment):
        raise TypeError(f"the simulator runs in an Environment, not in {job.tool!r}")
    shim = _Shim(job, job.tool)
    env = variables(job.control, job.tool.path)
    return [
        Command(one.label, one.kind, shim.argv(one), env, config_files(job, one.kind))
        for one in job.members
    ]


def describe(case: Case) -> list[str]:
    """The same processes as command lines to type by hand, in the order in which to start them.

    By hand the lengths of bodies are those of the simulator's table, and no rate is kept.
    """
    return [
        shlex.join(
            [
                *("python", "simulator.py", "--url", ANY_URL, "-j", f"{one.label}.json"),
                *_arguments(case, one, _topic(case, "mqperf", one.number)),
            ]
        )
        for one in pairs(case)
    ]


def queues(case: Case, run_id: str) -> list[str]:
    """The queues that the servers of a run declare by name.

    Those of replies and of fan-outs have random names, and expire by themselves.
    """
    names = []
    for one in pairs(case):
        if one.kind == "server":
            own = _topic(case, run_id, one.number)
            names += [own, f"{own}.{one.label}", f"{own}.info"]
    return list(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class _Shim:
    """What the simulator's processes of one run have in common."""

    job: Job
    environment: Environment

    def argv(self, one: Member) -> tuple[str, ...]:
        job = self.job
        python = (self.environment.python, *ALONE)
        config = ("--config-file", str(job.control / f"{one.kind}.conf"))
        summary = ("-j", str(job.out / f"{one.label}.json"))
        own = _topic(job.case, job.run_id, one.number)
        simulated = (*config, *summary, *_arguments(job.case, one, own))
        return (
            *python,
            "-m",
            "mqperf.onhost.load.simulator",
            *self._options(one),
            "--",
            *simulated,
        )

    def _options(self, one: Member) -> Iterator[str]:
        job = self.job
        options = {
            "--simulator": self.environment.simulator,
            "--label": one.label,
            "--kind": one.kind,
            "--test-case": job.case.test_case,
            "--control": job.control,
            "--messages": job.out / f"{one.label}.messages",
            "--threads": job.case.green_threads,
            "--seed": _seed(job.case, one.label),
        }
        said = of_case(job.case)
        if said.payload_bytes is not None:
            options["--payload"] = said.payload_bytes
        if said.rate_msg_s is not None:
            stairs = said.stairs(job.case.load_s)
            rates = [said.rate_msg_s] if stairs is None else stairs.rates.tolist()
            options |= {"--rates": ",".join(map(str, rates)), "--all-threads": job.case.threads}
            options["--first-thread"] = (one.number - 1) * job.case.green_threads
            if stairs is not None:
                options["--step-s"] = stairs.step_s
        for name, value in options.items():
            yield from (name, str(value))
        for repair in self.environment.release.repairs:
            yield from ("--repair", repair)


def _topic(case: Case, run_id: str, pair: int) -> str:
    """Without dots: the simulator splits a target into topic and server name at the first one."""
    name = topic(run_id)
    return name if of_case(case).targets == "shared" else f"{name}-{pair}"


def _arguments(case: Case, one: Member, own: str) -> list[str]:
    """The simulator's arguments after those that say where to connect and what to write."""
    family = "notify" if case.test_case == "notify" else "rpc"
    server = f"server-{one.number}"
    if one.kind == "server":
        return ["-tp", own, "-s", server, f"{family}-server"]
    # without a server name, any server of the topic takes the message
    parameters = of_case(case)
    target = own if parameters.targets == "shared" else f"{own}.{server}"
    load = ["-p", str(case.green_threads), "--timeout", str(case.timeout_s)]
    load += ["-w", f"{parameters.pause_s:g}"] if parameters.pause_s else []
    cast = ["--is-cast"] if case.test_case == "rpc-cast" else []
    return ["-tg", target, "-tp", own, "-l", str(case.load_s), f"{family}-client", *load, *cast]


def _seed(case: Case, label: str) -> int:
    """Equal for all repeats of a case, different for each of its processes."""
    return int.from_bytes(hashlib.sha256(f"{case.point}/{label}".encode()).digest()[:4])
