"""All systems except RabbitMQ, really started: test cases, killed nodes, and the clean-up."""

import json
import re
import signal
import socket
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from crowded_host import CrowdedHost
from killed import Killer, nothing_outlives
from listeners import accepts, listening
from patience import eventually
from pydantic import JsonValue
from samples import doubted

from mqperf.base.errors import SystemFault
from mqperf.hosts import HostFolder, LocalHost, Process
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems import SYSTEMS, Deployment
from mqperf.plan.file import parse_plan
from mqperf.record import runs
from mqperf.study.tables import Tables


@dataclass(frozen=True)
class Example:
    """A system, its settings in a plan, its nodes, and the number of processes of each role."""

    system: str
    topology: str
    queues: str
    nodes: tuple[str, ...]
    processes: int = 2
    settings: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def brokers(self) -> tuple[str, ...]:
        """The nodes one of which is listed first: those to which clients connect."""
        master = ("Broker 1", "Broker 2", "Broker 3")
        return master if self.system == "activemq-leveldb" else self.nodes[:1]

    def plan(self, test_cases: str = "[rpc-call, rpc-cast, notify]") -> str:
        return textwrap.dedent(f"""\
            systems:
              {self.system}:
                topologies: [{self.topology}]
                queues: [{self.queues}]
                settings: {json.dumps(self.settings)}
            test_cases: {test_cases}
            load:
              green_threads: [2]
              processes: [{self.processes}]
              pause_s: 0.05
              duration_s: 3
              warmup_s: 1
              timeout_s: 5
            """)


ZEROMQ = Example("zeromq", "direct", "none", ("Redis", "Replica 1"), settings={"replicas": 1})
USERS: Mapping[str, JsonValue] = {"users": True}
ACTIVEMQ = Example("activemq", "single", "classic", ("Broker",), settings=USERS)
ARTEMIS = Example("artemis", "single", "classic", ("Broker",))
ARTEMIS_HA = Example(
    "artemis-ha",
    "primary",
    "replicated",
    ("Primary", "Backup 1", "Backup 2", "ZooKeeper 1", "ZooKeeper 2", "ZooKeeper 3"),
    processes=1,
)
ACTIVEMQ_LEVELDB = Example(
    "activemq-leveldb",
    "primary",
    "replicated",
    ("Broker 1", "Broker 2", "Broker 3", "ZooKeeper 1", "ZooKeeper 2", "ZooKeeper 3"),
    processes=1,
    settings=USERS,
)


def for_each(*examples: Example) -> pytest.MarkDecorator:
    """Parametrize a fixture or test with these systems, if they are installed."""
    marked = [
        pytest.param(
            example,
            id=example.system,
            marks=pytest.mark.needs_redis if example is ZEROMQ else pytest.mark.needs_java,
        )
        for example in examples
    ]
    return pytest.mark.parametrize("example", marked, indirect=True, scope="module")


every_system = for_each(ZEROMQ, ACTIVEMQ, ARTEMIS, ARTEMIS_HA, ACTIVEMQ_LEVELDB)


@pytest.fixture(scope="module")
def example(request: pytest.FixtureRequest) -> Example:
    assert isinstance(request.param, Example)
    return request.param


@pytest.fixture(scope="module")
def measured(example: Example, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of a small sweep of the system without faults."""
    folder = tmp_path_factory.mktemp(example.system)
    text = example.plan()
    outcome = sweep(parse_plan(text, Path("test.yaml")), text, folder, Silent())
    assert (outcome.done, outcome.failed) == (3, ())
    return folder


@pytest.fixture(scope="module")
def frames(measured: Path) -> Tables:
    """The tables of these runs."""
    return doubted(measured)


@every_system
def test_no_message_is_lost(frames: Tables) -> None:
    """CALL, CAST and NOTIFY: all messages arrive, and every CALL is answered."""
    messages = frames["messages"]
    assert set(messages["test_case"]) == {"rpc-call", "rpc-cast", "notify"}
    assert (messages["sent"] > 0).all()
    assert (messages["sent"] == messages["received"]).all()
    calls = messages[messages["test_case"] == "rpc-call"]
    assert (calls["round_trip"] == calls["sent"]).all()
    assert (messages[["lost", "errors", "duplicates"]] == 0).all(axis=None)


@every_system
def test_every_process_is_watched(frames: Tables, example: Example) -> None:
    """CPU over the whole window, of every node and of the load generators."""
    cpu = frames["cpu"]
    whole = cpu[cpu["scope"] == "window"]
    nodes = whole.loc[whole["kind"] == "broker", "process"].unique()
    assert sorted(nodes) == sorted(example.nodes)
    assert nodes[0] in example.brokers
    roles = ("client", "server")
    loaders = {f"{role}-{number + 1}" for role in roles for number in range(example.processes)}
    assert set(whole.loc[whole["kind"].isin(["client", "server"]), "process"]) == loaders


@every_system
def test_the_record_is_whole(measured: Path, example: Example) -> None:
    """It has versions, memory of every node and the configuration, and no secret."""
    for run in runs(measured):
        assert run.damaged() == []
        system = run.facts().system
        assert system.title == SYSTEMS[example.system].title
        assert system.version
        assert system.runtime
        assert {n.label for n in system.nodes} == set(example.nodes)
        assert all((n.rss_bytes or 0) > 1_000_000 for n in system.nodes)
        text = "".join(p.read_text(errors="replace") for p in run.path.rglob("*") if p.is_file())
        assert "requirepass ***" in text or "requirepass" not in text
        assert "zmq+redis://" not in text
        assert {*re.findall('(?:password|zkPassword)="([^"]*)"', text)} <= {"***"}
        assert ("***" in text) == bool(example.settings)


@every_system
def test_no_doubt_about_the_counts(frames: Tables) -> None:
    """Messages are conserved, and all processes are present."""
    suspicious = {"received-not-sent", "lost", "missing-process", "failed-run"}
    assert not suspicious & set(frames["doubts"]["kind"])


@pytest.mark.needs_redis
def test_a_killed_node_fails_its_run_only(tmp_path: Path) -> None:
    """The failure has the node's name and log; the next run gets a new system."""
    text = ZEROMQ.plan("[rpc-call, rpc-cast]")
    killer = Killer(
        lambda process: "servers/redis" in " ".join([*process.cmdline(), process.cwd()])
    )
    outcome = sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, killer)
    [(failed, reason)] = outcome.failed
    assert outcome.done == 1
    assert "Redis was killed by signal 9; its log ends:" in reason
    assert any(log.stat().st_size for log in failed.path.glob("broker/*.log"))


LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


@contextmanager
def started(example: Example, host: LocalHost) -> Iterator[Deployment]:
    with (
        host.scratch("test") as folder,
        SYSTEMS[example.system].start(example.settings, [HostFolder(host, folder)]) as deployment,
    ):
        yield deployment


PATIENCE_S = 60

ANONYMOUS = bytes.fromhex("0000001902010000005341c00c01a309") + b"ANONYMOUS"
"""A SASL frame with which a client logs in as anonymous."""

SASL, OUTCOME = b"AMQP\x03\x01\x00\x00", bytes.fromhex("005344")
"""The protocol header, and the start of the frame with the outcome of a login."""

UBYTE, REFUSED = b"\x50", 1


def anonymous_is_refused(address: str) -> bool:
    """Whether an anonymous login is refused."""
    host, port = address.split(":")
    received = b""
    with socket.create_connection((host, int(port)), PATIENCE_S) as connection:
        connection.sendall(SASL + ANONYMOUS)
        while OUTCOME not in received[:-6] and (more := connection.recv(1000)):
            received += more
    _, _, outcome = received.partition(OUTCOME)
    return outcome[outcome.index(UBYTE) + 1] == REFUSED


@for_each(ZEROMQ, ACTIVEMQ, ARTEMIS)
def test_a_taken_port_is_no_obstacle(example: Example) -> None:
    """Taken ports are avoided; all listen on loopback only; afterwards nobody listens or runs.

    A broker with users refuses an anonymous login.
    """
    host = CrowdedHost(taken=0)
    with started(example, host) as deployment:
        assert len(host.blocks) == 2
        processes = [psutil.Process(n.process.pid) for n in deployment.nodes if n.process]
        assert len(processes) == len(example.nodes)
        assert {address for p in processes for address in listening(p)} <= LOOPBACK
        deployment.check()
        if example is ACTIVEMQ:
            assert anonymous_is_refused(deployment.nodes[0].name)
    assert not any(map(psutil.Process.is_running, processes))


def reply_of(address: str, *requests: bytes) -> bytes:
    """The reply of a server to the last of several requests."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as connection:
        for request in requests:
            connection.sendall(request)
            reply = connection.recv(1000)
    return reply


@for_each(ZEROMQ)
def test_a_replica_has_what_redis_has(example: Example) -> None:
    """Both need the password; data written to the first one is read from the replica."""
    with started(example, LocalHost()) as deployment:
        first, replica = (node.name for node in deployment.nodes)
        [case] = parse_plan(example.plan("[rpc-call]"), Path("test.yaml")).cases()
        login = f"AUTH {deployment.provision(case, 'run').client.password}\r\n".encode()
        for address in (first, replica):
            assert reply_of(address, b"GET key\r\n").startswith(b"-NOAUTH")
        assert reply_of(first, login, b"SET key 7\r\n") == b"+OK\r\n"
        copied = b"$1\r\n7\r\n"
        assert eventually(lambda: reply_of(replica, login, b"GET key\r\n") == copied, PATIENCE_S)


@pytest.mark.needs_java
def test_a_backup_takes_over() -> None:
    """All listen on loopback only; when the primary dies, a backup with its data listens.

    Two ZooKeepers of three are enough for that, and dead nodes are named.
    """
    with started(ARTEMIS_HA, LocalHost()) as deployment:
        backups = [node for node in deployment.nodes if node.label.startswith("Backup")]
        processes = [psutil.Process(n.process.pid) for n in deployment.nodes if n.process]
        assert {address for p in processes for address in listening(p)} <= LOOPBACK
        assert not any(map(accepts, (node.name for node in backups)))
        for label in ("Primary", "ZooKeeper 2"):  # the check has the opposite order
            kill_node(deployment, label)
            message = f"Artemis HA's {label} was killed by signal 9; its log ends: *[^ ]"
            with pytest.raises(SystemFault, match=message):
                deployment.check()
        assert eventually(lambda: any(accepts(node.name) for node in backups), 60)


def kill_node(deployment: Deployment, label: str) -> None:
    """Kill a node, and wait until it has ended."""
    [victim] = [node.process for node in deployment.nodes if node.label == label]
    assert isinstance(victim, Process)
    victim.signal(signal.SIGKILL)
    assert eventually(lambda: not victim.alive)


OWNER = """
    import json, sys
    from mqperf.hosts import LocalHost, HostFolder
    from mqperf.lab.systems import SYSTEMS

    host = LocalHost()
    system = SYSTEMS[sys.argv[1]]
    settings = json.loads(sys.argv[2])
    places = lambda folder: [HostFolder(host, folder)]
    with host.scratch("test") as folder, system.start(settings, places(folder)) as running:
        pids = [node.process.pid for node in running.nodes]
        print(json.dumps({"folder": str(folder), "pids": pids}), flush=True)
        sys.stdin.read()
"""


@for_each(ZEROMQ, ACTIVEMQ)
def test_a_system_dies_with_its_owner(example: Example) -> None:
    """A SIGKILL of mqperf leaves no process and no folder."""
    assert nothing_outlives(
        OWNER, example.system, json.dumps(example.settings), processes=len(example.nodes)
    )
