"""A real RabbitMQ: three private nodes, and nothing of them afterwards."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import amqp
import psutil
import pytest
from crowded_host import CrowdedHost
from patience import eventually

from mqperf.base.errors import SystemFault
from mqperf.hosts import HostFolder, LocalHost, Process
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.rabbitmq import modules
from mqperf.lab.systems.rabbitmq.installation import installed_version
from mqperf.lab.systems.rabbitmq.private import PrivateCluster, private_cluster
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Rabbitmqctl
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.lab.systems.rabbitmq.version import kind_of_queue
from mqperf.plan import Case

pytestmark = pytest.mark.needs_rabbitmq

ROOT = Path(__file__).parent.parent.parent
NOBODY = 65534


@dataclass(frozen=True)
class Running:
    """A cluster that is shared by all tests which leave it unchanged."""

    deployment: PrivateCluster
    folder: Path

    def url(self, index: int, user: str = "mqperf", password: str | None = None) -> str:
        """A URL of the default virtual host, as users write it in a plan."""
        cluster = self.deployment._cluster
        secret = cluster.secrets.password if password is None else password
        return f"rabbit://{user}:{secret}@127.0.0.1:{cluster.amqp_port(index)}"


@pytest.fixture(scope="module")
def running(rabbitmq: PrivateCluster) -> Running:
    return Running(rabbitmq, rabbitmq._cluster.host_folders[0].folder)


@contextmanager
def connected(url: str) -> Iterator[amqp.Channel]:
    parts = urlsplit(url)
    with amqp.Connection(
        host=f"{parts.hostname}:{parts.port}",
        userid=parts.username,
        password=parts.password,
        virtual_host=unquote(parts.path[1:]) or "/",
    ) as connection:
        yield connection.channel()


def make_case(queues: str = "classic", topology: str = "cmsm") -> Case:
    return Case(
        system="rabbitmq",
        topology=topology,
        queues=queues,
        test_case="rpc-call",
        green_threads=1,
        duration_s=1,
    )


@dataclass(frozen=True)
class ProcessSnapshot:
    """A snapshot of a process, which may have ended since."""

    pid: int
    name: str
    words: tuple[str, ...]


def processes_of(folder: Path | str) -> list[ProcessSnapshot]:
    """Living processes that have this folder in their arguments, environment or directory."""
    matching = []
    for process in psutil.process_iter():
        try:
            words = (*process.cmdline(), *process.environ().values())
            here = any(str(folder) in word for word in (*words, process.cwd()))
            if here and process.status() != psutil.STATUS_ZOMBIE:
                matching.append(ProcessSnapshot(process.pid, process.name(), words))
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return matching


def listeners(ports: Sequence[int]) -> set[tuple[str, int]]:
    return {
        (connection.laddr.ip, connection.laddr.port)
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
        and connection.laddr
        and connection.laddr.port in ports
    }


def queue_facts(running: Running, vhost: str, *columns: str) -> list[dict[str, Any]]:
    """What RabbitMQ itself reports about the queues of a virtual host."""
    rabbitmqctl, node = running.deployment._rabbitmqctl, running.deployment.nodes[0].name
    listed = rabbitmqctl.call(node, "list_queues", "-p", vhost, *columns, "--formatter", "json")
    facts: list[dict[str, Any]] = json.loads(listed)
    return facts


def test_three_nodes_are_one_cluster(running: Running) -> None:
    """Each of the three nodes is a process that can be watched."""
    nodes = running.deployment.nodes
    assert [node.label for node in nodes] == ["Master", "Slave 1", "Slave 2"]
    for node in nodes:
        assert node.process is not None
        assert psutil.Process(node.process.pid).name() == "beam.smp"
    running.deployment.check()


def test_nodes_alone_load_their_modules_together(running: Running, tmp_path: Path) -> None:
    """And no other process with the same home: rabbitmqctl, or a child of a node."""
    (tmp_path / modules.FILE).write_text(modules.LOADER)
    print_it = "io:write(code:is_loaded(xmerl_scan) =/= false), halt()."
    additional = running.deployment._cluster.node_environment(0)[
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS"
    ]
    for flags, loaded in ((additional, "true"), ("", "false")):
        argv = ["erl", "-noinput", *flags.split(), "-eval", print_it]
        env = {**os.environ, "HOME": str(tmp_path)}
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
        assert done.stdout == loaded


def test_everything_listens_on_loopback_only(running: Running) -> None:
    """Clients, nodes, metrics and the port mapper cannot be reached from other machines."""
    listening = listeners(running.deployment._cluster.ports)
    assert len({port for _, port in listening}) == 1 + 3 + 3 + 3
    assert {address for address, _ in listening} <= {"127.0.0.1", "::1"}


def test_nothing_is_open_to_datagrams(running: Running) -> None:
    """Not even when RabbitMQ starts its syslog library, which opens a socket for sending."""
    rabbitmqctl, node = running.deployment._rabbitmqctl, running.deployment.nodes[0].name
    rabbitmqctl.call(node, "eval", "application:ensure_all_started(syslog).")
    pids = {process.pid for process in processes_of(running.folder)}
    assert [c for c in psutil.net_connections("udp") if c.pid in pids] == []


def test_only_our_user_may_enter(running: Running) -> None:
    """RabbitMQ's default user guest is refused, and only the owner can read the cookie."""
    with pytest.raises(amqp.AccessRefused), connected(running.url(0, "guest", "guest")):
        pass
    cookie = running.folder / ".erlang.cookie"
    assert cookie.stat().st_mode & 0o777 == 0o400


def test_secrets_stay_with_the_cluster(running: Running, tmp_path: Path) -> None:
    """Password and cookie are in no argument, environment, fact or collected file."""
    cluster = running.deployment._cluster
    running.deployment.collect(tmp_path)
    texts = [json.dumps(running.deployment.facts()), repr(running.deployment.nodes)]
    texts += [path.read_text() for path in tmp_path.iterdir()]
    for process in processes_of(running.folder):
        texts += process.words
    for secret in (cluster.secrets.password, cluster.secrets.cookie):
        assert not [text for text in texts if secret in text]


def test_facts_describe_what_was_measured(running: Running) -> None:
    """The facts have versions, configuration and memory."""
    facts: Any = running.deployment.facts()
    assert facts["version"].count(".") == 2
    assert int(facts["runtime"].removeprefix("Erlang ").partition(".")[0]) >= 23
    assert "default_pass = ***" in facts["config"]
    assert all(node["rss_bytes"] > 10_000_000 for node in facts["nodes"])


def test_runs_are_isolated_from_each_other(running: Running) -> None:
    """A run sees no queues of another run, and leaves none behind."""
    first = running.deployment.provision(make_case(), "run.one-1")
    second = running.deployment.provision(make_case(), "run.two-1")
    with connected(first.client.url("amqp")) as channel:
        channel.queue_declare("q", durable=False, auto_delete=False)
    with connected(second.client.url("amqp")) as channel, pytest.raises(amqp.NotFound):
        channel.queue_declare("q", passive=True)
    running.deployment.clean_up("run.one-1", ())
    running.deployment.clean_up("run.two-1", ())
    with pytest.raises(amqp.NotAllowed), connected(first.client.url("amqp")):
        pass


def test_virtual_hosts_are_made_with_erl_call_or_without(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If erl_call fails, rabbitmqctl does the same; the error of both is that of rabbitmqctl."""
    rabbitmqctl, node = running.deployment._rabbitmqctl, running.deployment.nodes[0].name
    (broken := tmp_path / "erl_call").write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o700)
    path = f"{tmp_path}:{rabbitmqctl.environment['PATH']}"
    without = replace(rabbitmqctl, environment={**rabbitmqctl.environment, "PATH": path})
    commands: list[str] = []
    call = Rabbitmqctl.call

    def spy(self: Rabbitmqctl, node: str, *words: str, accepted: tuple[int, ...] = (0,)) -> str:
        commands.append(words[0])
        return call(self, node, *words, accepted=accepted)

    monkeypatch.setattr(Rabbitmqctl, "call", spy)
    for way in (rabbitmqctl, without):
        way.add_vhost(node, "either", "mqperf", {}, {})
        with connected(f"{running.url(0)}/either") as channel:
            channel.queue_declare("q", durable=False, auto_delete=False)
        way.delete_vhost(node, "either")
    assert commands == ["import_definitions", "eval", "delete_vhost"]
    with pytest.raises(SystemFault, match=r"rabbitmqctl import_definitions .* failed: .*nobody"):
        rabbitmqctl.add_vhost(node, "neither", "nobody", {}, {})
    rabbitmqctl.delete_vhost(node, "neither")


def test_clean_up_accepts_a_run_that_was_not_prepared(running: Running) -> None:
    """A run whose preparation failed halfway can be cleaned up."""
    running.deployment.clean_up("never-provisioned", ())


def test_topology_decides_the_nodes(running: Running) -> None:
    """Client and server connect to the nodes of the topology."""
    access = running.deployment.provision(make_case(topology="cs1ss2"), "topology")
    ports = [running.deployment._cluster.amqp_port(index) for index in (1, 2)]
    assert [*access.client.addresses, *access.server.addresses] == [
        f"127.0.0.1:{port}" for port in ports
    ]
    running.deployment.clean_up("topology", ())


def test_mirrored_queues_are_on_all_nodes(running: Running) -> None:
    """The policy exists before the first queue, so that every queue is mirrored."""
    if kind_of_queue("ha", installed_version(LocalHost())) != "mirrored":
        pytest.skip("this RabbitMQ has no mirrored queues")
    access = running.deployment.provision(make_case("mirrored"), "mirrored")
    with connected(access.server.url("amqp")) as channel:
        channel.queue_declare("q", durable=False, auto_delete=False)
        assert eventually(
            lambda: len(queue_facts(running, "mirrored", "slave_pids")[0]["slave_pids"]) == 2
        )
    running.deployment.clean_up("mirrored", ())


def test_quorum_queues_are_on_all_nodes(running: Running) -> None:
    """A quorum queue in a run's virtual host has a member on each node."""
    access = running.deployment.provision(make_case("quorum"), "quorum")
    with connected(access.server.url("amqp")) as channel:
        arguments = {"x-queue-type": "quorum"}
        channel.queue_declare("q", durable=True, auto_delete=False, arguments=arguments)
        assert len(queue_facts(running, "quorum", "members")[0]["members"]) == 3
    running.deployment.clean_up("quorum", ())


def test_each_run_gets_its_part_of_the_log(running: Running, tmp_path: Path) -> None:
    """Each run gets the part of the log that was written since the previous run."""
    for name in ("first", "second"):
        running.deployment.provision(make_case(), name)
        (tmp_path / name).mkdir()
        running.deployment.collect(tmp_path / name)
        running.deployment.clean_up(name, ())
    log = (tmp_path / "second" / "node1.log").read_text()
    assert "Adding vhost 'second'" in log
    assert "Adding vhost 'first'" not in log
    assert (tmp_path / "second" / "node1-rabbitmq.conf").read_text().startswith("default_user")


def existing_cluster(tmp_path: Path, urls: Sequence[str]) -> AbstractContextManager[Any]:
    names = ["one", "two", "three"][: len(urls)]
    return SYSTEMS["rabbitmq"].start(
        {"nodes": [*names], "urls": [*urls]}, [HostFolder(LocalHost(), tmp_path)]
    )


def test_existing_cluster_is_used_as_it_is(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passwords of a user's cluster come from the environment; other queues stay untouched."""
    monkeypatch.setenv("SECRET", running.deployment._cluster.secrets.password)
    urls = [running.url(index, password="${SECRET}") for index in range(3)]  # noqa: S106
    of_run = ("run-1-1", "run-1-1.server-1")
    others = {queue["name"] for queue in queue_facts(running, "/", "name")}
    with existing_cluster(tmp_path, urls) as deployment:
        pids = [node.process.pid for node in deployment.nodes]
        facts = deployment.facts()
        deployment.check()
        access = deployment.provision(make_case(topology="cs1ss2"), "run-1")
        with connected(access.server.url("amqp")) as channel:
            for queue in (*of_run, "somebody-else"):
                channel.queue_declare(queue, durable=False, auto_delete=False)
        deployment.clean_up("run-1", of_run)
        left = {queue["name"] for queue in queue_facts(running, "/", "name")}
    assert left - others == {"somebody-else"}
    assert pids == [node.process.pid for node in running.deployment.nodes if node.process]
    assert facts["version"] == running.deployment.facts()["version"]
    assert running.deployment._cluster.secrets.password not in json.dumps(facts)
    assert {psutil.Process(pid).name() for pid in pids} == {"beam.smp"}
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_password_is_not_in_the_error(running: Running, tmp_path: Path) -> None:
    """The error names the user and the URL, without the password."""
    url = running.url(1, password="wrong-one")  # noqa: S106
    with pytest.raises(SystemFault) as fault, existing_cluster(tmp_path, [url]):
        pass
    assert "refuses user 'mqperf'" in str(fault.value)
    assert url.replace("wrong-one", "***") in str(fault.value)
    assert "wrong-one" not in str(fault.value)


def test_topology_needs_enough_urls(running: Running, tmp_path: Path) -> None:
    """A cluster with one known URL refuses a topology of several nodes."""
    with existing_cluster(tmp_path, [running.url(0)]) as deployment:
        deployment.provision(make_case(), "run-1")
        with pytest.raises(SystemFault, match="cs1ss2 needs 2 RabbitMQ nodes"):
            deployment.provision(make_case(topology="cs1ss2"), "run-2")


def test_a_taken_port_is_no_obstacle_and_a_dead_node_is_named() -> None:
    """Other ports are tried; the failure quotes the dead node's log; nothing is left."""
    host = CrowdedHost(taken=1)
    with host.scratch("test-rabbitmq") as folder:
        with private_cluster(Settings(), [HostFolder(host, folder)], nodes=1) as deployment:
            assert len(host.blocks) == 2
            [victim] = [node.process for node in deployment.nodes]
            assert isinstance(victim, Process)
            victim.signal(signal.SIGKILL)
            assert eventually(lambda: not victim.alive)
            with pytest.raises(SystemFault, match=r"Broker .* killed by signal 9; its log ends:"):
                deployment.check()
        assert processes_of(folder / "servers") == []
    assert listeners([port for block in host.blocks for port in block]) == set()
    assert not folder.exists()


def test_the_port_mapper_is_ours_alone() -> None:
    """If its port is taken, the broker uses others; if it is killed, no node starts another."""
    host = CrowdedHost(taken=0)
    with (
        host.scratch("test-rabbitmq") as folder,
        private_cluster(Settings(), [HostFolder(host, folder)], nodes=1) as deployment,
    ):
        assert len(host.blocks) == 2
        assert processes_of(folder / "servers" / "epmd") == []
        assert len(processes_of(folder / "servers-again" / "epmd")) == 1
        [epmd] = [p.pid for p in processes_of(folder) if p.name == "epmd"]
        wait = "F = fun() -> timer:sleep(2000), rabbit_nodes_common:ensure_epmd() end"
        code = f"{wait}, spawn(fun() -> F(), file:write_file('{folder}/tried', []) end)."
        deployment._rabbitmqctl.call(deployment.nodes[0].name, "eval", code)
        os.kill(epmd, signal.SIGKILL)
        assert eventually((folder / "tried").exists, 60)
        assert [p for p in processes_of(folder) if p.name == "epmd"] == []
    assert processes_of(folder) == []


OWNER = """
    import json, sys
    from pathlib import Path
    from mqperf.hosts import LocalHost, HostFolder
    from mqperf.lab.systems import SYSTEMS

    host = LocalHost()
    start = SYSTEMS["rabbitmq"].start
    one = {"topology": "single"}
    with host.scratch("test") as folder, start(one, [HostFolder(host, folder)]) as cluster:
        pids = [node.process.pid for node in cluster.nodes]
        print(json.dumps({"folder": str(folder), "pids": pids}), flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def as_another_user() -> Iterator[tuple[list[str], dict[str, str]]]:
    """A command that runs Python as nobody (if this is root), and its environment."""
    home = Path(tempfile.mkdtemp(prefix="mqperf-test-"))
    packages = [sysconfig.get_path("purelib"), *map(str, (ROOT / "packages").iterdir())]
    env = {
        "PATH": os.environ["PATH"],
        "TMPDIR": str(home),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *packages]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    user: list[str] = []
    if os.getuid() == 0:
        os.chown(home, NOBODY, NOBODY)
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    try:
        for python in (sys.executable, "/usr/bin/python3"):
            command = [*user, python, "-c"]
            probe = [
                *command,
                (
                    "import sys, subprocess, mqperf.lab.systems;"
                    " subprocess.run([sys.executable, '-V'])"
                ),
            ]
            if subprocess.run(probe, env=env, check=False, capture_output=True).returncode == 0:
                yield command, env
                return
        pytest.skip("another user may not enter the folder of this Python")
    finally:
        shutil.rmtree(home)


def test_a_broker_of_another_user_dies_with_its_owner(
    running: Running, as_another_user: tuple[list[str], dict[str, str]]
) -> None:
    """It runs beside a cluster and not as root; a SIGKILL of its owner leaves nothing."""
    command, env = as_another_user
    with subprocess.Popen(
        [*command, textwrap.dedent(OWNER)],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        try:
            assert owner.stdout is not None
            answer = json.loads(owner.stdout.readline())
            assert {psutil.Process(pid).name() for pid in answer["pids"]} == {"beam.smp"}
            if os.getuid() == 0:
                assert {psutil.Process(pid).uids().real for pid in answer["pids"]} == {NOBODY}
            running.deployment.check()
        finally:
            owner.kill()
    assert eventually(lambda: processes_of(answer["folder"]) == [])
    assert eventually(lambda: not Path(answer["folder"]).exists())
    running.deployment.check()
