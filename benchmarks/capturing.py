"""What a capture of the firehose costs, and whether it has all that was published.

    ./noxw -s benchmarks -- capturing [RATE [SECONDS]]

A private RabbitMQ with tracing on, a publisher and a consumer at an offered rate, and a capture in
this process, as ``mqperf capture`` makes it: first of messages with equal properties, then of such
with an id of their own.  The captured messages are compared with the counts of the publisher and of
the broker.  CPU is user and system, of the capture alone, and relative to a yardstick of that run.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from guard import yardstick
from stressing import load

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems.rabbitmq.private import PrivateCluster, private_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf_diagnosis.onhost.erlang import ErlangNode
from mqperf_numbered.onhost.broker import Broker
from mqperf_traffic.lab.counting import Counting
from mqperf_traffic.lab.firehose import Firehose

RATE, SECONDS = 20_000, 15
BESIDE_S = 8
"""Seconds of a capture beyond those of the load."""

LOADS: Mapping[str, Mapping[str, object]] = {
    "properties alike": {"payload_bytes": 256, "confirms": 1_000},
    "an id for each": {"payload": "short", "confirms": 1_000},
}
"""Name -> parameters of a load; confirms keep it from sending more than the broker takes."""

PUBLISHED = (
    "maps:get(messages_received_total,"
    " maps:get([{protocol, amqp091}], rabbit_global_counters:overview()))."
)


def main(arguments: list[str]) -> None:
    """Print a line for each load."""
    rate, seconds = [*map(int, arguments), *(RATE, SECONDS)[len(arguments) :]]
    host = LocalHost()
    with (
        host.scratch("capturing") as folder,
        private_cluster(Settings(), [HostFolder(host, folder)]) as cluster,
    ):
        for name, parameters in LOADS.items():
            print(f"{name}: {captured(cluster, parameters, rate, seconds)}", flush=True)


def captured(
    cluster: PrivateCluster, parameters: Mapping[str, object], rate: int, seconds: int
) -> str:
    """Capture one load; return its counts and its CPU as text."""
    case, key = load.case({**parameters, "rate_msg_s": float(rate)}, 1, seconds), "capturing"
    pids = [each.process.pid for each in cluster.nodes if each.process is not None]
    access, node = cluster.provision(case, key), ErlangNode(pids[0])
    broker = access.client
    try:
        _evaluated(node, f'rabbit_trace:start(<<"{key}">>).')
        before = int(_evaluated(node, PUBLISHED))
        with (
            tempfile.TemporaryDirectory(prefix="capturing-") as name,
            load.running(case, access, Path(name)) as running,
        ):
            copies = Firehose(Broker(broker.addresses, broker.user, broker.password, key))
            counting = Counting(seconds + BESIDE_S)
            spent = _cpu_s(lambda: copies.capture(counting, print))
            running.finish(whole=True)
            sent = running.counts("client-1").streams["sent"].count
        counted = int(_evaluated(node, PUBLISHED)) - before
    finally:
        cluster.clean_up(key, ())
    profile = counting.profile(
        names=False, complete=not copies.dropped, most_waiting=copies.most_waiting
    )
    unit = min(_cpu_s(yardstick) for _ in range(3))
    cost, most = spent / counting.messages, max(profile.per_second())
    return (
        f"{counting.messages:,} captured of {sent:,} sent, {counted:,} by the broker; complete:"
        f" {profile.complete}; {most:,} in the fullest second, {profile.most_waiting:,} waited at"
        f" most; {1e6 * cost:.2f} us of CPU a message, {1e6 * cost / unit:.1f} yardsticks for 10**6"
    )


def _cpu_s(work: Callable[[], object]) -> float:
    """Return the CPU seconds that some work takes in this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


def _evaluated(node: ErlangNode, expression: str) -> str:
    """Return a node's answer to an expression of Erlang: that of ``{ok, ANSWER}``."""
    result = subprocess.run(
        node.argv, input=f"{expression}\n", env=node.env, capture_output=True, text=True, check=True
    )
    if (answer := re.fullmatch(r"{ok, (.*)}\s*", result.stdout, re.DOTALL)) is None:
        sys.exit(f"the node answered: {result.stdout}{result.stderr}")
    return answer[1]


if __name__ == "__main__":
    main(sys.argv[1:])
