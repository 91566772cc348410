"""Transparency: the simulator's throughput under mqperf over that of the same commands by hand.

    ./noxw -s benchmarks -- transparency [PAIRS [HOSTS [TEST_CASE ...]]]

Both run on one private cluster, in pairs whose order alternates.  HOSTS are ``local``,
``laboratory`` or an inventory: clients, servers and brokers run on their hosts.  Throughputs are
the simulator's own counts: for CALL its replies, over the seconds that it was to send; for CAST and
NOTIFY the messages that its server received, from the first sent until the last received.  (Where
client and server share cores, the sent messages only show which of them got more of the cores.)
Printed are the median ratio of the pairs, and the 95 % confidence interval of the mean of their
logarithms.
"""

import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from scipy.stats import t

from mqperf.hosts import HERE, Host, HostFolder, Hosts, Process, lookup
from mqperf.hosts.software import ALONE
from mqperf.lab.load import LAUNCHERS, Command, LoadJob
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.control import Station
from mqperf.lab.runner.phases import begin
from mqperf.lab.runner.trial import Audience
from mqperf.lab.systems import SYSTEMS
from mqperf.plan import Case
from mqperf.plan.load import pairs
from mqperf.plan.test_cases import STANDARD

if TYPE_CHECKING:
    from mqperf.lab.load.simulator.environments import Environment

SECONDS = 8
GREEN_THREADS = 10
SIDES = ("server", "client")
SERVER_STARTS_S = 4
"""Time that a person waits for the server to listen."""


def main(arguments: list[str]) -> None:
    """Print every pair and the median ratio of each test case."""
    pairs = int(arguments[0]) if arguments else 7
    system, launcher = SYSTEMS["rabbitmq"], LAUNCHERS["simulator"]
    kind = lookup(arguments[1] if len(arguments) > 1 else HERE)
    with kind.reached() as hosts, ExitStack() as stack:
        host_folders = [
            HostFolder(host, stack.enter_context(host.scratch("bench"))) for host in hosts.broker
        ]
        deployment = stack.enter_context(system.start({}, host_folders))
        driver = system.drivers[launcher.name]
        tools = {host.name: launcher.tool(driver, host) for host in _of_load(hosts)}
        bench = Bench(hosts, deployment, {launcher.name: tools}, {"system": {}})
        for test_case in arguments[2:] or STANDARD:
            ratios = [_pair(bench, test_case, number) for number in range(1, pairs + 1)]
            print(f"{test_case}: {_summary(ratios)}")


def _summary(ratios: Sequence[float]) -> str:
    logs = [math.log(ratio) for ratio in ratios]
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
    within = t.ppf(0.975, len(logs) - 1) * error
    low, high = math.exp(mean - within), math.exp(mean + within)
    middle = f"median ratio {statistics.median(ratios):.4f} of {len(ratios)} pairs"
    return f"{middle}; geometric mean {math.exp(mean):.4f} ({low:.4f} to {high:.4f})"


def _of_load(hosts: Hosts) -> tuple[Host, Host]:
    """Return the hosts of the server and the client."""
    return hosts.server[0], hosts.client[0]


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
    """Return the messages per second in a trial as a sweep runs it."""
    with tempfile.TemporaryDirectory() as folder:
        begun = begin(case, 1, Path(folder), bench, Audience(lambda _: None))
        with closing(begun.trial):
            measured = begun.agree().measure()
            measured.drain()
            run = measured.conclude()
        server, client = ((run.path / "load" / f"{side}-1.json").read_bytes() for side in SIDES)
        return _rate(server, client, case)


def by_hand(bench: Bench, case: Case) -> float:
    """Return the messages per second of the upstream simulator, started as a person starts it."""
    key = f"by-hand-{case.id}"
    access = bench.deployment.provision(case, key)
    with ExitStack() as stack:
        processes: list[Process] = []
        readers: list[Callable[[], bytes]] = []
        for host, member in zip(_of_load(bench.hosts), pairs(case), strict=True):
            folder = stack.enter_context(host.scratch("by-hand"))
            tool = cast("Environment", bench.tools[case.generator][host.name])
            job = LoadJob(case, key, access, tool, [member], folder, folder, host.address)
            [command] = LAUNCHERS[case.generator].commands(job)
            Station(host, folder).place(command.files)
            argv, log = _upstream(tool, command), folder / f"{command.label}.log"
            processes.append(host.start(command.label, argv, env=command.env, log=log))
            readers.append(partial(host.read, folder / f"{command.label}.json"))
            time.sleep(SERVER_STARTS_S if member.kind == "server" else 0)
        listening, sending = processes
        while sending.alive:
            time.sleep(0.2)
        listening.stop(grace_s=10)
        bench.deployment.clean_up(key, LAUNCHERS[case.generator].queues(case, key))
        server, client = (read() for read in readers)
        return _rate(server, client, case)


def _upstream(environment: "Environment", command: Command) -> list[str]:
    """Return the command of the simulator with its own arguments, without our shim."""
    arguments = command.argv[command.argv.index("--") + 1 :]
    return [environment.python, *ALONE, str(environment.simulator), *arguments]


def _rate(server: bytes, client: bytes, case: Case) -> float:
    sent, received = json.loads(client)["summary"], json.loads(server)["summary"]
    if case.test_case == "rpc-call":
        return float(sent["round_trip"]["count"]) / case.load_s
    return float(received["count"] / (received["end"] - sent["client"]["start"]))


if __name__ == "__main__":
    main(sys.argv[1:])
