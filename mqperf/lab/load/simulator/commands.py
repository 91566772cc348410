"""The oslo.messaging simulator: the commands of one run.

Every pair is one client process and one server process.  With targets ``own`` each pair has its own
topic; with ``shared`` all servers consume from one topic, as in the reports of 2016.  The
simulator requires an order of its arguments: those for both roles come before the mode, and
``-tg``, which takes any number of values, must not be the last of them.
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
    """Return the processes of a run, servers first."""
    if not isinstance(tool := job.tool, Environment):
        raise TypeError(f"the simulator runs in an Environment, not in {tool!r}")
    env = variables(job.control, tool.path)
    return [
        Command(m.label, m.kind, _argv(job, tool, m), env, config_files(job, m.kind))
        for m in job.members
    ]


def describe(case: Case) -> list[str]:
    """Return the processes as command lines to type by hand, in the order in which to start them.

    These use the body lengths of the simulator's table, and do not keep a rate.
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
    """Return the queues that the servers of a run declare under predictable names.

    Queues of replies and fan-outs have random names and expire by themselves; streams do not.
    """
    names = []
    for member in pairs(case):
        if member.kind == "server":
            pair_topic = _topic(case, run_id, member.number)
            rpc_suffixes = ("", f".{member.label}", "_fanout")
            suffixes = (".info",) if case.test_case == "notify" else rpc_suffixes
            names += [f"{pair_topic}{suffix}" for suffix in suffixes]
    return list(dict.fromkeys(names))


def _argv(job: LoadJob, environment: Environment, member: Member) -> tuple[str, ...]:
    """Return the command of a process: mqperf's own options, then the simulator's arguments."""
    return (
        *(environment.python, *ALONE, "-m", "mqperf.onhost.load.simulator"),
        *_options(job, environment, member),
        "--",
        *("--config-file", str(job.control / f"{member.kind}.conf")),
        *("-j", str(job.out / f"{member.label}.json")),
        *_arguments(job.case, member, _topic(job.case, job.run_id, member.number)),
    )


def _options(job: LoadJob, environment: Environment, member: Member) -> Iterator[str]:
    """Yield the options of mqperf's own program."""
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
    """Return a topic without dots: the simulator splits targets at the first dot."""
    name = topic(run_id)
    return name if of_case(case).targets == "shared" else f"{name}-{pair}"


def _arguments(case: Case, member: Member, prefix: str) -> list[str]:
    """Return the simulator's arguments after those for the connection and the output."""
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
    per_thread = str(-(-parameters.message_count // case.threads))
    return ["-tg", target, "-tp", prefix, f"{family}-client", *load, "-m", per_thread]


def _seed(case: Case, label: str) -> int:
    """Return a seed that is equal for all repeats of a case and differs between processes."""
    return int.from_bytes(hashlib.sha256(f"{case.point}/{label}".encode()).digest()[:4])
