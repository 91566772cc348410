"""Transparency: the simulator's throughput under mqperf over that of the same commands by hand.

    ./noxw -s benchmarks -- transparency [PAIRS]

Both run on one private cluster, turn and turn about, and the order within a pair alternates.
The throughput of either is what the simulator itself counted, over the seconds that it was told to
send: replies for CALL, messages sent for CAST and NOTIFY.  Given is the median ratio of the pairs.
"""

import json
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mqperf.hosts import Hosts, LocalHost, Spot
from mqperf.load import GENERATORS, Command, Job, members
from mqperf.plan import Case
from mqperf.runner.bench import Bench
from mqperf.runner.control import Station
from mqperf.runner.phases import begin
from mqperf.software import ALONE
from mqperf.systems import SYSTEMS
from mqperf.test_cases import TEST_CASES

if TYPE_CHECKING:
    from mqperf.load.simulator.environments import Environment

SECONDS = 8
GREEN_THREADS = 10
SERVER_STARTS_S = 4
"""What a person waits until the server listens."""


def main(arguments: list[str]) -> None:
    """Print every pair and the median ratio of each test case."""
    pairs = int(arguments[0]) if arguments else 7
    system, host = SYSTEMS["rabbitmq"], LocalHost()
    generator = GENERATORS["simulator"]
    tool = generator.tool(system.drivers[generator.name], host)
    with (
        host.scratch("transparency") as folder,
        system.start({}, [Spot(host, folder)]) as deployment,
    ):
        tools = {generator.name: {host.name: tool}}
        bench = Bench(Hosts.alone(host), deployment, tools, {"system": {}})
        for test_case in TEST_CASES:
            ratios = [_pair(bench, test_case, number) for number in range(1, pairs + 1)]
            print(f"{test_case}: median ratio {statistics.median(ratios):.4f} of {pairs} pairs")


def _pair(bench: Bench, test_case: str, number: int) -> float:
    case = Case(
        system="rabbitmq",
        topology="cmsm",
        queues="classic",
        test_case=test_case,
        green_threads=GREEN_THREADS,
        duration_s=SECONDS - 3,
        repeat=number,
    )
    order = [under_mqperf, by_hand] if number % 2 else [by_hand, under_mqperf]
    rates = {measure: measure(bench, case) for measure in order}
    ratio = rates[under_mqperf] / rates[by_hand]
    print(
        f"  {test_case} {number}: {rates[under_mqperf]:.1f}/s under mqperf,"
        f" {rates[by_hand]:.1f}/s by hand, ratio {ratio:.4f}",
        flush=True,
    )
    return ratio


def under_mqperf(bench: Bench, case: Case) -> float:
    """Messages per second in a trial as a sweep runs it."""
    with tempfile.TemporaryDirectory() as folder:
        begun = begin(case, 1, Path(folder), bench, lambda _: None)
        with closing(begun.trial):
            run = begun.measure().conclude()
        return _rate(run.path / "load" / "client-1.json", case)


def by_hand(bench: Bench, case: Case) -> float:
    """Messages per second of the upstream simulator, started as a person starts it."""
    host, key = bench.hosts.client[0], f"by-hand-{case.id}"
    access = bench.deployment.provision(case, key)
    tool = bench.tools[case.generator][host.name]
    with host.scratch("by-hand") as folder:
        commands = GENERATORS[case.generator].commands(
            Job(case, key, access, tool, members(case), folder, folder)
        )
        for command in commands:
            Station(host, folder).place(command.files)
        server, client = (_upstream(cast("Environment", tool), command) for command in commands)
        variables = commands[0].env
        listening = host.start("server-1", server, env=variables, log=folder / "server-1.log")
        time.sleep(SERVER_STARTS_S)
        sending = host.start("client-1", client, env=variables, log=folder / "client-1.log")
        while sending.alive:
            time.sleep(0.2)
        listening.stop(grace_s=10)
        bench.deployment.clean_up(key, GENERATORS[case.generator].queues(case, key))
        return _rate(folder / "client-1.json", case)


def _upstream(environment: "Environment", command: Command) -> list[str]:
    """The simulator with its own arguments, without the shim in front of it."""
    arguments = command.argv[command.argv.index("--") + 1 :]
    return [environment.python, *ALONE, str(environment.simulator), *arguments]


def _rate(file: Path, case: Case) -> float:
    summary = json.loads(file.read_text())["summary"]
    stream = "round_trip" if case.test_case == "rpc-call" else "client"
    return float(summary[stream]["count"]) / case.load_s


if __name__ == "__main__":
    main(sys.argv[1:])
