"""The oslo.messaging simulator: the commands of one run.

Every pair is one client process and one server process.  With targets ``own`` each pair has a topic
of its own; with ``shared`` all servers take from one topic, as in the reports of 2016.  The
simulator is strict about the order of its arguments: all that concerns both roles comes before the
mode, and ``-tg``, which takes any number of values, must not be the last of them.
"""

import hashlib
import shlex
from collections.abc import Iterator

from mqperf.hosts.software import ALONE
from mqperf.lab.load.launcher import Command, LoadJob
from mqperf.lab.load.oslo.processes import config_files, topic, variables
from mqperf.lab.load.simulator.environments import Environment
from mqperf.plan import Case
from mqperf.plan.load import Member, pairs
from mqperf.plan.load.simulator import FANOUT, of_case

ANY_URL = "rabbit://USER:PASSWORD@HOST:5672/VHOST"


def commands(job: LoadJob) -> list[Command]:
    """The processes of a run, servers first."""
    if not isinstance(tool := job.tool, Environment):
        raise TypeError(f"the simulator runs in an Environment, not in {tool!r}")
    env = variables(job.control, tool.path)
    return [
        Command(each.label, each.kind, _argv(job, tool, each), env, config_files(job, each.kind))
        for each in job.members
    ]


def describe(case: Case) -> list[str]:
    """The same processes as command lines to type by hand, in the order in which to start them.

    By hand the lengths of bodies are those of the simulator's table, and no rate is kept.
    """
    return [
        shlex.join(
            [
                *("python", "simulator.py", "--url", ANY_URL, "-j", f"{member.label}.json"),
                *_arguments(case, member, _topic(case, "mqperf", member.number)),
            ]
        )
        for member in pairs(case)
    ]


def queues(case: Case, run_id: str) -> list[str]:
    """The queues that the servers of a run declare by name.

    Those of replies and of fan-outs have random names, and expire by themselves; streams do not.
    """
    names = []
    for member in pairs(case):
        if member.kind == "server":
            pair_topic = _topic(case, run_id, member.number)
            of_calls = ("", f".{member.label}", "_fanout")
            ends = (".info",) if case.test_case == "notify" else of_calls
            names += [f"{pair_topic}{end}" for end in ends]
    return list(dict.fromkeys(names))


def _argv(job: LoadJob, environment: Environment, member: Member) -> tuple[str, ...]:
    """How a process is started: what is mqperf's own, then the simulator's arguments."""
    return (
        *(environment.python, *ALONE, "-m", "mqperf.onhost.load.simulator"),
        *_options(job, environment, member),
        "--",
        *("--config-file", str(job.control / f"{member.kind}.conf")),
        *("-j", str(job.out / f"{member.label}.json")),
        *_arguments(job.case, member, _topic(job.case, job.run_id, member.number)),
    )


def _options(job: LoadJob, environment: Environment, member: Member) -> Iterator[str]:
    """Those of mqperf's own."""
    options = {
        "--simulator": environment.simulator,
        "--label": member.label,
        "--kind": member.kind,
        "--test-case": job.case.test_case,
        "--control": job.control,
        "--messages": job.out / f"{member.label}.messages",
        "--threads": job.case.green_threads,
        "--seed": _seed(job.case, member.label),
    }
    parameters = of_case(job.case)
    if parameters.payload_bytes is not None:
        options["--payload"] = parameters.payload_bytes
    if parameters.message_count is not None:
        options |= {"--count": parameters.message_count, "--load-s": job.case.load_s}
    if parameters.rate_msg_s is not None:
        stairs = parameters.stairs(job.case.load_s)
        rates = [parameters.rate_msg_s] if stairs is None else stairs.rates.tolist()
        options["--rates"] = ",".join(map(str, rates))
        if stairs is not None:
            options["--step-s"] = stairs.step_s
    if not options.keys().isdisjoint({"--count", "--rates"}):
        options["--all-threads"] = job.case.threads
        options["--first-thread"] = (member.number - 1) * job.case.green_threads
    for name, value in options.items():
        yield from (name, str(value))
    for repair in environment.release.repairs:
        yield from ("--repair", repair)


def _topic(case: Case, run_id: str, pair: int) -> str:
    """Without dots: the simulator splits a target into topic and server name at the first one."""
    name = topic(run_id)
    return name if of_case(case).targets == "shared" else f"{name}-{pair}"


def _arguments(case: Case, member: Member, prefix: str) -> list[str]:
    """The simulator's arguments after those that say where to connect and what to write."""
    family = "notify" if case.test_case == "notify" else "rpc"
    server = f"server-{member.number}"
    if member.kind == "server":
        return ["-tp", prefix, "-s", server, f"{family}-server"]
    # without a server name, any server of the topic takes the message
    parameters = of_case(case)
    target = prefix if parameters.targets == "shared" else f"{prefix}.{server}"
    load = ["-p", str(case.green_threads), "--timeout", str(case.timeout_s)]
    load += ["-w", f"{parameters.pause_s:g}"] if parameters.pause_s else []
    flags = {"rpc-cast": ["--is-cast"], FANOUT: ["--is-cast", "--is-fanout"]}
    load += flags.get(case.test_case, [])
    if parameters.message_count is None:
        return ["-tg", target, "-tp", prefix, "-l", str(case.load_s), f"{family}-client", *load]
    each = str(-(-parameters.message_count // case.threads))
    return ["-tg", target, "-tp", prefix, f"{family}-client", *load, "-m", each]


def _seed(case: Case, label: str) -> int:
    """Equal for all repeats of a case, different for each of its processes."""
    return int.from_bytes(hashlib.sha256(f"{case.point}/{label}".encode()).digest()[:4])
