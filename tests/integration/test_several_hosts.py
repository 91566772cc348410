"""Sweeps on five hosts in namespaces, with brokers, clients and servers on separate machines."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from agents import processes_left
from patience import DOUBTS_OF_A_BUSY_MACHINE, eventually
from typing_extensions import override

from mqperf.hosts import HostFolder, inventory
from mqperf.hosts.remote import connected
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.runner.plans import Outcome
from mqperf.lab.systems.rabbitmq.private import private_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.record import runs
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf_laboratory.hosts import Laboratory

pytestmark = pytest.mark.needs_rabbitmq

MQPERF = str(Path(sys.executable).with_name("mqperf"))
PLAN = """\
systems:
  rabbitmq: {topologies: [cs1ss2]}
test_cases: [rpc-call, rpc-cast]
load: {green_threads: [1], pause_s: 0.02, duration_s: 3, warmup_s: 1}
"""
CAST = PLAN.replace("cs1ss2", "single").replace("rpc-call, rpc-cast", "rpc-cast")
OTHERS = """\
systems:
  zeromq: {topologies: [direct], queues: [none]}
  artemis-ha: {topologies: [primary], queues: [replicated]}
test_cases: [rpc-call]
load: {green_threads: [1], pause_s: 0.02, duration_s: 3, warmup_s: 1}
"""
SHIFT = """\
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    int state = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME && state == 0) {
        now->tv_nsec += 500000000;
        if (now->tv_nsec >= 1000000000) { now->tv_nsec -= 1000000000; now->tv_sec += 1; }
    }
    return state;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    (void) zone;
    int state = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return state;
}
"""
"""A library with which every program of a host reads a clock that is half a second ahead."""


class OnFirstMeasurement(Silent):
    """Calls a function once, when the first case is being measured."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action: Callable[[], object] | None = action

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        if what == "measuring" and self.action:
            action, self.action = self.action, None
            action()


@pytest.fixture(scope="module")
def two_of_each(five_hosts: Laboratory) -> Iterator[Path]:
    """An inventory with one host for brokers, two for clients and two for servers."""
    given = yaml.safe_load(five_hosts.inventory.read_text())["all"]
    hosts = {
        name: variables
        for group in given["children"].values()
        for name, variables in group["hosts"].items()
    }
    groups = {"broker": ["h1"], "client": ["h2", "h3"], "server": ["h4", "h5"]}
    children = {
        role: {"hosts": {name: hosts[name] for name in names}} for role, names in groups.items()
    }
    file = five_hosts.folder / "two_of_each.yaml"
    file.write_text(yaml.safe_dump({"all": {"vars": given["vars"], "children": children}}))
    yield file
    file.unlink()


@pytest.fixture
def clock_ahead(five_hosts: Laboratory, tmp_path: Path) -> Iterator[str]:
    """A host of servers on which every program reads a clock that is half a second ahead."""
    source, library = tmp_path / "shift.c", tmp_path / "shift.so"
    source.write_text(SHIFT)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    [place] = [place for place in inventory.read(five_hosts.inventory).places if place.name == "h5"]
    with connected([place]) as [host]:
        there = host.copied(library)
        etc = "/run/etc"  # a host has its own /run; its /etc is that of the whole machine
        shell = (
            f"cp {there} /run/shift.so && cp -a /etc {etc} && mount --bind {etc} /etc"
            " && echo /run/shift.so > /etc/ld.so.preload"
        )
        assert host.run(["sh", "-c", shell], timeout_s=60).returncode == 0
    yield place.name
    with connected([place]) as [host]:
        host.run(["sh", "-c", "umount /etc && rm -rf /run/etc"], timeout_s=60)


def measured(text: str, folder: Path, hosts: Path, observer: Silent | None = None) -> Outcome:
    """Run a plan on the hosts of an inventory."""
    plan = parse_plan(text, Path("hosts.yaml"))
    return sweep(plan, text, folder, observer or Silent(), hosts=str(hosts))


def nothing_left(lab: Laboratory) -> bool:
    return eventually(lambda: not processes_left(lab))


def folders_left(lab: Laboratory) -> list[Path]:
    """The temporary files of mqperf on the hosts, read from outside."""
    roots = [Path("/proc", str(lab.processes(name)[0].pid), "root") for name in lab.names]
    return [path for root in roots for path in (root / "tmp").glob("mqperf*/*")]


def test_every_part_is_where_the_inventory_says(
    five_hosts: Laboratory, two_of_each: Path, clock_ahead: str, tmp_path: Path
) -> None:
    """Brokers, clients and servers are watched on their hosts, with all threads of all clients.

    A wrong clock is detected, and latencies are corrected by its offset; raw records are not.
    """
    text = CAST.replace("green_threads: [1]", "green_threads: [1], processes: [2]")
    assert measured(text, tmp_path, two_of_each).failed == ()
    [run] = runs(tmp_path)
    facts = run.facts()
    assert facts.case is not None
    assert (facts.case.hosts, facts.case.threads) == (2, 4)
    assert {process.label: process.host for process in facts.processes} == {
        "client-1": "h2", "client-2": "h3", "client-3": "h2", "client-4": "h3",
        "server-1": "h4", "server-2": "h5", "server-3": "h4", "server-4": "h5",
    }  # fmt: skip
    assert {host.label: host.roles for host in facts.hosts} == {
        "h1": ("broker",), "h2": ("client",), "h3": ("client",),
        "h4": ("server",), "h5": ("server",),
    }  # fmt: skip
    for name, clock in facts.clocks.items():
        true = 0.5 if name == clock_ahead else 0.0
        assert abs(clock.before.offset_s - true) <= clock.before.bound_s + 1e-6, name
    frames = tables.read(tmp_path)
    assert set(frames["runs"]["threads"]) == {4}
    window = frames["cpu"].query("scope == 'window' and kind in ['broker', 'client', 'server']")
    assert set(window.query("kind == 'broker'")["host"]) == {"h1"}
    assert {*window.loc[window["process"] == "client-2", "host"]} == {"h3"}
    assert (frames["messages"]["received"] == frames["messages"]["sent"]).all()
    doubts = checks.doubts(frames)
    assert set(doubts["kind"]) <= DOUBTS_OF_A_BUSY_MACHINE, [*doubts["text"]]
    assert frames["latency"]["latency_p50_s"].between(0, 0.4).all()
    assert nothing_left(five_hosts)


@pytest.mark.needs_redis
@pytest.mark.needs_java
def test_other_systems_stand_on_several_hosts(five_hosts: Laboratory, tmp_path: Path) -> None:
    """ZeroMQ clients find servers by a Redis elsewhere; Artemis has brokers on three hosts."""
    outcome = measured(OTHERS, tmp_path, five_hosts.inventory)
    assert outcome.failed == ()
    frames = tables.read(tmp_path)
    assert (frames["messages"]["received"] == frames["messages"]["sent"]).all()
    brokers = frames["cpu"].query("scope == 'window' and kind == 'broker'")
    pairs = {(row.process, row.host) for row in brokers.itertuples()}
    assert pairs == {
        ("Redis", "h1"), ("Primary", "h1"), ("Backup 1", "h2"), ("Backup 2", "h3"),
        ("ZooKeeper 1", "h1"), ("ZooKeeper 2", "h2"), ("ZooKeeper 3", "h3"),
    }  # fmt: skip


def test_a_lost_host_fails_the_point_by_name_and_the_rest_goes_on(
    five_hosts: Laboratory, tmp_path: Path
) -> None:
    """Within seconds; records of the other hosts are kept, and the next case waits for the host."""

    def lose() -> None:
        five_hosts.cut("h2")
        threading.Timer(12, five_hosts.mend, ["h2"]).start()

    observer = OnFirstMeasurement(lose)
    outcome = measured(PLAN, tmp_path, five_hosts.inventory, observer)
    [(run, reason)] = outcome.failed
    assert reason.startswith("h2 was lost: no answer for 3 s")
    assert outcome.done == 1
    assert (run.path / "load" / "client-1.log").exists()
    assert (run.path / "broker" / "node1.log").exists()
    assert (run.path / "probes" / "h5" / "psutil.jsonl").exists()
    assert nothing_left(five_hosts)
    assert folders_left(five_hosts) == []


def test_a_controller_that_is_killed_leaves_nothing(five_hosts: Laboratory, tmp_path: Path) -> None:
    """Brokers, load generators, probes and folders of every host are gone with it."""
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"title: killed\n{CAST}")
    options = ["--hosts", str(five_hosts.inventory), "--runs", str(tmp_path / "r")]
    argv = [MQPERF, "run", str(plan), *options]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as controller:
        events = (tmp_path / "r").glob
        assert eventually(
            lambda: any('"what": "start"' in file.read_text() for file in events("*/events.jsonl")),
            240,
        )
        assert len(processes_left(five_hosts)) > 10
        controller.send_signal(signal.SIGKILL)
    assert nothing_left(five_hosts)
    assert folders_left(five_hosts) == []


def test_existing_nodes_are_watched_on_their_hosts(
    five_hosts: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's cluster is reached by its URLs, and found on the hosts of the group broker.

    Here it is a private one: three nodes on three hosts, which listen on their addresses only.
    """
    places = inventory.read(five_hosts.inventory).broker
    with connected(places) as hosts, ExitStack() as stack:
        host_folders = [
            HostFolder(host, stack.enter_context(host.scratch("theirs"))) for host in hosts
        ]
        existing = stack.enter_context(private_cluster(Settings(), host_folders))
        endpoint = existing._endpoint("/")
        monkeypatch.setenv("SECRET", endpoint.password)
        urls = [f"amqp://mqperf:${{SECRET}}@{address}/" for address in endpoint.addresses]
        settings = {"nodes": ["a", "b", "c"], "urls": urls}
        text = CAST.replace("[single]", f"[cs1ss2], settings: {json.dumps(settings)}")
        for host in hosts:
            argv = ["ss", "--listening", "--tcp", "--numeric", "--no-header"]
            lines = host.run(argv, timeout_s=30).stdout.splitlines()
            listening = {line.split()[3].rpartition(":")[0] for line in lines}
            assert listening <= {host.address, "127.0.0.1", "[::1]"}, host.name
        names = [node.name for node in existing.nodes]
        assert names == [f"mqperf{n}@{five_hosts.address(f'h{n}')}" for n in (1, 2, 3)]
        assert measured(text, tmp_path, five_hosts.inventory).failed == ()
    cpu = tables.read(tmp_path)["cpu"].query("scope == 'window' and kind == 'broker'")
    pairs = {(row.process, row.host) for row in cpu.itertuples()}
    assert pairs == {("Master", "h1"), ("Slave 1", "h2"), ("Slave 2", "h3")}
