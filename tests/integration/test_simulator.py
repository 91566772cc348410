"""The simulator under its shim, against a private RabbitMQ."""

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from patience import all_due, eventually

from mqperf.hosts import LocalHost, Process, stop_all
from mqperf.lab.load import Access, LoadJob
from mqperf.lab.load.simulator import environments
from mqperf.lab.load.simulator.commands import commands
from mqperf.lab.load.simulator.environments import Environment
from mqperf.lab.runner.control import ControlFolders, Station, next_start
from mqperf.lab.systems import Deployment
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.plan import Case
from mqperf.plan.load import pairs
from mqperf.plan.test_cases import STANDARD
from mqperf.record.messages import read_header, read_messages
from mqperf.record.outputs.simulator import read_client, read_server

pytestmark = pytest.mark.needs_rabbitmq

PATIENCE_S = 60
HOST = LocalHost()


@pytest.fixture(scope="module")
def environment() -> Environment:
    return environments.ensure("rabbitmq", HOST)


@dataclass(frozen=True)
class Run:
    """The processes of a run, their control folder and their output files."""

    case: Case
    access: Access
    control: ControlFolders
    out: Path
    processes: dict[str, Process]

    def labels(self, kind: str) -> list[str]:
        return [f"{kind}-{pair}" for pair in range(1, self.case.processes + 1)]

    def start(self) -> int:
        self.control.await_ready(self.processes, PATIENCE_S, lambda: None)
        start = next_start()
        self.control.start(start, {HOST.name: HOST.clock()})
        return start

    def end(self, kind: str) -> None:
        """Wait until all processes of one kind have ended successfully."""
        for label in self.labels(kind):
            assert exit_code(self.processes[label]) == 0, self.log(label)

    def drain(self) -> None:
        """Wait until the servers have received everything that was sent, then stop them."""
        sent = sum(len(self.stream(label, "sent")) for label in self.labels("client"))
        assert eventually(lambda: self.control.received(self.labels("server")) == sent)
        self.control.stop()
        self.end("server")

    def stop_under_load(self) -> None:
        """Stop the servers while the clients still send."""
        assert eventually(lambda: self.control.received(self.labels("server")) > 100)
        self.control.stop()
        self.end("server")
        self.end("client")

    def stream(self, label: str, name: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return read_messages(self.out / f"{label}.messages")[name]

    def merged(self, kind: str, name: str, column: int = 0) -> list[float]:
        """One column of a stream, merged over all processes of a kind and sorted."""
        streams = [self.stream(label, name)[:, column] for label in self.labels(kind)]
        return sorted(np.concatenate(streams).tolist())

    def files(self, kind: str) -> list[Path]:
        return [self.out / f"{label}.json" for label in self.labels(kind)]

    def log(self, label: str) -> str:
        return (self.out / f"{label}.log").read_text()


def exit_code(process: Process) -> int:
    assert eventually(lambda: process.poll() is not None)
    ended = process.poll()
    assert ended is not None
    return ended


@contextmanager
def running(
    case: Case, deployment: Deployment, environment: Environment, out: Path
) -> Iterator[Run]:
    key = f"test-{time.time_ns()}"
    access = deployment.provision(case, key)
    with HOST.scratch("control") as folder:
        station = Station(HOST, folder)
        processes: dict[str, Process] = {}
        try:
            share = pairs(case)
            job = LoadJob(case, key, access, environment, share, folder, out, HOST.address)
            for command in commands(job):
                station.place(command.files)
                log = out / f"{command.label}.log"
                processes[command.label] = HOST.start(
                    command.label, command.argv, env=command.env, log=log
                )
            yield Run(case, access, ControlFolders([station]), out, processes)
        finally:
            stop_all(list(processes.values()), grace_s=0)
            deployment.clean_up(key, ())


BUSY = {"pause_s": 0.05}
"""With 20 threads, messages arrive all the time, even on a busy machine."""

Begin = Callable[[Case], AbstractContextManager[Run]]


def case(test_case: str, **changes: object) -> Case:
    fixed = {
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": test_case,
        "green_threads": 5,
        "duration_s": 2,
        "warmup_s": 0,
        "cooldown_s": 0,
        "timeout_s": 30,
    }
    return Case.model_validate(fixed | changes)


@pytest.fixture
def begin(rabbitmq: PrivateCluster, environment: Environment, tmp_path: Path) -> Begin:
    return partial(running, deployment=rabbitmq, environment=environment, out=tmp_path)


@pytest.mark.parametrize("targets", ["own", "shared"])
@pytest.mark.parametrize("test_case", STANDARD)
def test_every_message_is_recorded_at_both_ends(begin: Begin, test_case: str, targets: str) -> None:
    """After the drain the servers have received exactly the messages that the clients sent.

    The files of the run have no secret.
    """
    parameters = {"targets": targets, "pause_s": 0.02}
    with begin(case(test_case, duration_s=1, processes=2, parameters=parameters)) as run:
        start = run.start()
        run.end("client")
        run.drain()
    sent = run.merged("client", "sent")
    assert sent == run.merged("server", "received")
    assert run.merged("client", "error") == []
    if test_case == "rpc-call":
        assert sent == run.merged("client", "round_trip")
    for label in run.labels("client"):
        assert read_header(run.out / f"{label}.messages").start == start
        assert start <= run.stream(label, "sent").min()
    for label in run.labels("server"):
        assert len(run.stream(label, "received"))
    check_simulator_counts(run, len(sent))
    check_no_secret(run)


@pytest.mark.parametrize("test_case", ["rpc-call", "notify"])
def test_a_rate_is_kept_by_all_threads_together(begin: Begin, test_case: str) -> None:
    """Each message is due at its own instant of one schedule; handover and service follow it."""
    parameters = {"rate_msg_s": 100}
    with begin(case(test_case, processes=2, parameters=parameters)) as run:
        start = run.start()
        run.end("client")
        run.drain()
    sent = run.merged("client", "sent")
    assert set(sent) <= {start + number / 100 for number in range(200)}
    assert all_due([len(sent)], 200)
    assert len(sent) == len(set(sent))
    assert sent == run.merged("server", "received") == run.merged("client", "handover")
    finish = ("client", "round_trip") if test_case == "rpc-call" else ("server", "received")
    assert run.merged(finish[0], "service", 1) == run.merged(*finish, 1)
    assert run.merged(finish[0], "service") == run.merged("client", "handover", 1)
    late = run.stream("client-1", "handover") @ [-1, 1]
    assert late.min() >= 0
    check_simulator_counts(run, len(sent))


def test_every_server_gets_a_fan_out(begin: Begin) -> None:
    """Each server receives every message once, as all share one topic."""
    parameters = {"targets": "shared", "pause_s": 0.02}
    with begin(case("rpc-fanout", duration_s=1, processes=2, parameters=parameters)) as run:
        run.start()
        run.end("client")
        deliveries = 2 * len(run.merged("client", "sent"))
        assert eventually(lambda: run.control.received(run.labels("server")) == deliveries)
        run.control.stop()
        run.end("server")
    sent = run.merged("client", "sent")
    assert sent
    for label in run.labels("server"):
        assert sorted(run.stream(label, "received")[:, 0].tolist()) == sent


def test_a_pause_and_a_payload_reach_the_simulator(begin: Begin) -> None:
    """Threads wait after each message, and every body has the planned length."""
    parameters = {"pause_s": 0.25, "payload_bytes": 50_000}
    with begin(case("rpc-call", green_threads=2, parameters=parameters)) as run:
        run.start()
        run.end("client")
        run.drain()
    sent = run.merged("client", "sent")
    assert 2 <= len(sent) <= 2 * (2 / 0.25 + 1)
    [file] = run.files("client")
    summary = json.loads(file.read_text())["summary"]["client"]
    assert summary["size"] == 50_000 * summary["count"] > 0


def check_simulator_counts(run: Run, exact: int) -> None:
    """Its own JSON has the same counts, except that the last message of a thread may be missing."""
    clients = [read_client(file).summary for file in run.files("client")]
    complete = range(exact - run.case.threads, exact + 1)
    assert sum(one.client.count for one in clients) in complete
    assert sum(read_server(file).summary.count for file in run.files("server")) == exact
    replies = [one.round_trip.count for one in clients if one.round_trip]
    assert not replies or sum(replies) in complete


def check_no_secret(run: Run) -> None:
    """The files of a run can be published."""
    password = run.access.client.password
    assert password
    for path in run.out.iterdir():
        assert password.encode() not in path.read_bytes()


@pytest.mark.parametrize("test_case", ["rpc-cast", "notify"])
def test_servers_stop_while_messages_arrive(begin: Begin, test_case: str) -> None:
    """A server stopped under load exits normally and writes its files."""
    with begin(case(test_case, green_threads=20, parameters=BUSY)) as run:
        run.start()
        run.stop_under_load()
    received = set(run.merged("server", "received"))
    assert received
    assert received <= set(run.merged("client", "sent"))
    assert read_server(run.out / "server-1.json").summary.count == len(received)


def test_calls_without_an_answer_are_errors(begin: Begin) -> None:
    """Each ends after the timeout, is recorded as an error, and is not a round trip."""
    with begin(case("rpc-call", timeout_s=1, duration_s=6)) as run:
        run.start()
        run.stop_under_load()
    errors, replies = run.merged("client", "error"), run.merged("client", "round_trip")
    assert len(errors) >= run.case.threads
    assert sorted(errors + replies) == run.merged("client", "sent")
    waits = run.stream("client-1", "error") @ [-1, 1]
    assert waits.min() >= run.case.timeout_s


@pytest.mark.parametrize("label", ["client-1", "server-1"])
def test_a_signal_under_load_loses_no_record(begin: Begin, label: str) -> None:
    """SIGTERM makes the simulator exit normally; without the shim it would hang."""
    with begin(case("rpc-cast", green_threads=20, duration_s=30, parameters=BUSY)) as run:
        run.start()
        assert eventually(lambda: run.control.received(["server-1"]) > 100)
        run.processes[label].signal(signal.SIGTERM)
        assert exit_code(run.processes[label]) == 0
    stream = "sent" if label == "client-1" else "received"
    assert len(run.stream(label, stream)) > 100
    read = read_client if label == "client-1" else read_server
    assert read(run.out / f"{label}.json").series


def test_a_signal_before_the_start_ends_the_wait(begin: Begin) -> None:
    """The processes of a cancelled run end without having sent anything."""
    with begin(case("rpc-cast")) as run:
        run.control.await_ready(run.processes, PATIENCE_S, lambda: None)
        for process in run.processes.values():
            process.signal(signal.SIGTERM)
        run.end("client")
        run.end("server")
    assert run.merged("client", "sent") == []


def test_a_start_that_has_passed_fails_the_client(begin: Begin) -> None:
    """A client that cannot start on time fails instead of starting later."""
    with begin(case("rpc-cast")) as run:
        run.control.await_ready(run.processes, PATIENCE_S, lambda: None)
        run.control.at(HOST).place({"start": '{"start": 1000000000}'})
        assert exit_code(run.processes["client-1"]) == 1
    assert "client-1 was not free to start at 1000000000" in run.log("client-1")


def test_the_environment_runs_its_simulator(environment: Environment) -> None:
    """The versions that ``doctor`` shows, and the hash of the simulator."""
    versions = environments.self_check("rabbitmq", HOST)
    assert versions == environment.versions
    assert versions["oslo.messaging"] == environment.release.version
    assert {"python", "eventlet", "kombu", "amqp", "simulator_sha256"} <= versions.keys()


def test_a_damaged_environment_is_made_anew(environment: Environment, own_cache: Path) -> None:
    """A modified simulator is never measured: the next use restores the original."""
    site, packages = environment.path[-1], own_cache / "packages"
    shutil.copytree(site, packages / site.name, symlinks=True)  # so nothing is fetched
    shutil.copy(f"{site}.sealed", packages)
    sound = environments.ensure("rabbitmq", HOST)
    sound.simulator.write_text("changed")
    again = environments.ensure("rabbitmq", HOST)
    assert again.versions == sound.versions
    again.check()
