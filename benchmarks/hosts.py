"""Cost of control over SSH in a laboratory: connections, echoes, processes, files, ends.

    ./noxw -s benchmarks -- hosts [COUNT ...]

The counts of hosts are 5 and 20 unless given.  All of them share this machine, with the controller.
It needs root.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, cast

import psutil

from mqperf.base.errors import HostLost
from mqperf.hosts import inventory
from mqperf.hosts.place import Place
from mqperf.hosts.remote import RemoteHost, connected
from mqperf_laboratory.hosts import Laboratory, laboratory

HOLD = "--hold"
SLEEP = ["sh", "-c", "(setsid sleep 4321 &); sleep 4321 & wait"]
FILES, FILE_BYTES = 1000, 17_000
IDLE_S = 10


def main(arguments: list[str]) -> None:
    """Measure with growing numbers of hosts."""
    if arguments[:1] == [HOLD]:
        hold(Path(arguments[1]))
        return
    for count in [int(argument) for argument in arguments] or [5, 20]:
        began = time.perf_counter()
        with laboratory(count) as lab:
            print(f"{count} hosts: laboratory made in {since(began)}", flush=True)
            measure(lab, inventory.read(lab.inventory).places)


def measure(lab: Laboratory, places: tuple[Place, ...]) -> None:
    """Print the times of all operations."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        with connected(places):
            times.append(time.perf_counter() - began)
    print(f"  connect to all: {spread(times)}")
    with connected(places) as hosts, ThreadPoolExecutor(len(hosts)) as pool:
        echoes(hosts, pool)
        processes(hosts[0])
        files(hosts, pool)
        idle(lab)
    ends(lab)
    losses(lab, places)


def echoes(hosts: list[RemoteHost], pool: ThreadPoolExecutor) -> None:
    """Measure round trips with one host, the clocks of all at once, and their error bounds."""
    channel = hosts[0]._channel  # noqa: SLF001 (a host itself has the median of many only)
    trips = sorted(channel.echo().round_trip_s for _ in range(2000))
    print(f"  echo p50 {trips[1000] * 1e3:.3f} ms, p99 {trips[1980] * 1e3:.3f} ms")
    began = time.perf_counter()
    offsets = list(pool.map(RemoteHost.clock, hosts))
    widest = max(offsets, key=lambda offset: offset.bound_s)
    wrong = [offset for offset in offsets if abs(offset.offset_s) > offset.bound_s]
    print(
        f"  clocks of all: {since(began)}; widest {widest.text()}; beyond its bound: {len(wrong)}"
    )


def processes(host: RemoteHost) -> None:
    """Start, poll and stop processes, one after the other."""
    times = []
    for _ in range(50):
        began = time.perf_counter()
        process = host.start("sleep", ["sleep", "60"], log=Path(os.devnull))
        process.poll()
        process.stop(1)
        times.append(time.perf_counter() - began)
    print(f"  start, poll and stop: {spread(times)}")


def files(hosts: list[RemoteHost], pool: ThreadPoolExecutor) -> None:
    """Copy a folder as large as the packed software of a load generator to all hosts at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(FILES):
            (folder / f"{number}").write_bytes(os.urandom(FILE_BYTES))
        scratch = [host.scratch("push") for host in hosts]
        targets = [manager.__enter__() for manager in scratch]
        began = time.perf_counter()
        list(pool.map(lambda host, target: host.push(folder, target / "copy"), hosts, targets))
        megabytes = FILES * FILE_BYTES / 1e6
        print(f"  push of {megabytes:.0f} MB in {FILES} files to all: {since(began)}")
        began = time.perf_counter()
        hosts[0].fetch(targets[0] / "copy", folder / "back")
        print(f"  fetch of the same from one: {since(began)}")
        for manager in scratch:
            manager.__exit__(None, None, None)


def idle(lab: Laboratory) -> None:
    """Measure the CPU of ssh here, and of agents and their keepers on hosts, without requests."""
    local = [child for child in psutil.Process().children(recursive=True) if child.name() == "ssh"]
    far = [process for name in lab.names for process in lab.processes(name)[1:]]
    before = [cpu_s(local), cpu_s(far)]
    time.sleep(IDLE_S)
    spent = [cpu_s(local) - before[0], cpu_s(far) - before[1]]
    print(f"  idle for {IDLE_S} s: all ssh {spent[0]:.2f} s CPU, on all hosts {spent[1]:.2f} s CPU")


def cpu_s(watched: list[psutil.Process]) -> float:
    """Return the user and system time of processes together."""
    times = [process.cpu_times() for process in watched]
    return sum(spent.user + spent.system for spent in times)


def ends(lab: Laboratory) -> None:
    """Measure the time from SIGKILL of a controller until all its processes on hosts are gone."""
    times = []
    for _ in range(5):
        argv = [sys.executable, "-P", __file__, HOLD, str(lab.inventory)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as controller:
            cast("IO[bytes]", controller.stdout).readline()
            left = [process for name in lab.names for process in lab.processes(name)[1:]]
            began = time.perf_counter()
            controller.kill()
            _, alive = psutil.wait_procs(left, timeout=60)
            times.append(time.perf_counter() - began)
            if alive:
                print(f"  LEFT after 60 s: {alive}")
    print(f"  SIGKILL of the controller until all {len(left)} processes are gone: {spread(times)}")


def hold(path: Path) -> None:
    """Act as a controller whose hosts have processes, children and daemons."""
    with connected(inventory.read(path).places) as hosts:
        for host in hosts:
            host.start("sleep", SLEEP, log=Path(os.devnull))
        print("up", flush=True)
        time.sleep(600)


def losses(lab: Laboratory, places: tuple[Place, ...]) -> None:
    """Measure the time from the loss of a host until it is reported with its name."""
    with connected(places[:1]) as [host]:
        pid = next(iter(host.own_processes().values()))
        agent = next(process for process in lab.processes("h1") if pid_on_host(process) == pid)
        print(f"  agent killed, told after {time_to_report(host, agent.kill)}")
    with connected(places[:1]) as [host]:
        print(f"  cable cut, told after {time_to_report(host, lambda: lab.cut('h1'))}")
        lab.mend("h1")


def pid_on_host(process: psutil.Process) -> int:
    """Return the PID of a process in the namespace of its host."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("NSpid:")).split()[-1])


def time_to_report(host: RemoteHost, lose: Callable[[], None]) -> str:
    """Lose a host; return after what time, and how, this is reported."""
    began = time.perf_counter()
    lose()
    try:
        host.run(["sleep", "60"], timeout_s=60)
    except HostLost as error:
        return f"{since(began)}: {error}"
    return "never"


def since(began: float) -> str:
    """Return the seconds since an instant, as text."""
    return f"{time.perf_counter() - began:.2f} s"


def spread(times: list[float]) -> str:
    """Return median and extremes in ms, as text."""
    low, middle, high = min(times), statistics.median(times), max(times)
    return f"median {middle * 1e3:.1f} ms ({low * 1e3:.1f} to {high * 1e3:.1f} ms)"


if __name__ == "__main__":
    main(sys.argv[1:])
