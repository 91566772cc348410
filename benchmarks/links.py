"""The packet relay of links: its throughput, its delay and its CPU.

    ./noxw -s benchmarks -- links [ROUNDS]

Rounds between two hosts of a laboratory alternate between the bare network and links: bulk data
over one TCP connection, round trips of single datagrams, and the relay's CPU meanwhile.  Printed
are medians.  It needs root.
"""

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext

from mqperf.hosts import HOSTS, Host, Hosts
from mqperf.lab.links import LINKS
from mqperf.plan import LinkPoint
from mqperf_links.lab.calibration import Calibration
from mqperf_links.lab.relay import Relayed

BULK_S = 4
PORT = 5201
BETWEEN = ("client", "server")
LINKS_TRIED: dict[str, LinkPoint | None] = {
    "no link": None,
    "no delay": LinkPoint(between=BETWEEN),
    "100 ms": LinkPoint(between=BETWEEN, delay_s=0.1),
    "100 ms, 5 % loss": LinkPoint(between=BETWEEN, delay_s=0.1, loss_share=0.05),
    "100 Mbit/s": LinkPoint(between=BETWEEN, bandwidth_bits_s=100_000_000),
}
RECEIVE = """
import socket, sys, time
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as server:
    print("ready", flush=True)
    client, _ = server.accept()
    count, first, last = 0, None, None
    while data := client.recv(1 << 20):
        last = time.monotonic()
        first = first or last
        count += len(data)
    print(count * 8 / (last - first), flush=True)
"""
SEND = """
import socket, sys, time
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as client:
    limit, block = time.monotonic() + float(sys.argv[3]), bytes(1 << 18)
    while time.monotonic() < limit:
        client.sendall(block)
"""


def main(arguments: list[str]) -> None:
    """Print the median of every figure for every link."""
    rounds = int(arguments[0]) if arguments else 3
    figures: dict[tuple[str, str], list[float]] = defaultdict(list)
    with HOSTS["laboratory"].reached() as hosts:
        for number in range(rounds):
            for name in LINKS_TRIED if number % 2 == 0 else reversed(LINKS_TRIED):
                for figure, value in measured(hosts, LINKS_TRIED[name]):
                    figures[name, figure].append(value)
                    print(f"  round {number + 1}, {name}: {figure} {value:.4g}", flush=True)
    for (name, figure), values in figures.items():
        print(f"{name}: {figure} {statistics.median(values):.4g}")


def measured(hosts: Hosts, link: LinkPoint | None) -> Iterator[tuple[str, float]]:
    """Yield the figures of a link, or of the bare network, from a client's to a server's host."""
    first, second = hosts.client[0], hosts.server[0]
    [backend] = LINKS.values()
    with nullcontext() if link is None else backend.laid(link, hosts) as laid:
        planned = LinkPoint(between=BETWEEN) if link is None else link
        with Calibration.between(planned, [(first, second)]) as calibration:
            yield "delay each way, ms", 1e3 * (calibration.measure().delay_s or 0.0)
        before = used(laid)
        yield "bulk, Mbit/s", bulk(first, second) / 1e6
        if isinstance(laid, Relayed):
            yield "relay's CPU during bulk, cores", (used(laid) - before) / BULK_S
            before = used(laid)
            time.sleep(3)
            yield "relay's CPU when idle, cores", (used(laid) - before) / 3


def used(laid: object) -> float:
    """Return the CPU seconds of a relay until now."""
    return laid.packets()["cpu_s"] if isinstance(laid, Relayed) else 0.0


def bulk(first: Host, second: Host) -> float:
    """Send bulk data; return the bits per second that arrive."""
    with second.scratch("bulk") as folder:
        log = folder / "log"
        argv = [second.python, "-I", "-S", "-c", RECEIVE, second.address, str(PORT)]
        running = second.start("bulk", argv, log=log)
        while b"ready" not in second.read(log):
            time.sleep(0.01)
        sending = [first.python, "-I", "-S", "-c", SEND, second.address, str(PORT), str(BULK_S)]
        first.run(sending, timeout_s=120)
        while running.alive:
            time.sleep(0.05)
        return float(second.read(log).split()[-1])


if __name__ == "__main__":
    main(sys.argv[1:])
