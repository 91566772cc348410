"""A real NATS: every message is accounted for; nats-py checks independently."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nats
import numpy as np
import psutil
import pytest
from killed import nothing_outlives
from listeners import listening
from load_by_hand import Flow, job_of
from nats.aio.client import Client
from patience import all_due, eventually
from samples import doubted
from typing_extensions import override

from mqperf.base.errors import SystemFault
from mqperf.base.processes import Process
from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.load import LAUNCHERS
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems import SYSTEMS
from mqperf.onhost.record.numbers import size
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.record import runs
from mqperf_nats.lab.nats import Nats
from mqperf_numbered.onhost.stamps import SIZE, STAMP

pytestmark = pytest.mark.needs_nats

PLAN = """\
systems: {nats: {topologies: [any-node], queues: [core, jetstream-file-r3]}}
test_cases: [publish]
load: {generator: nats, green_threads: 2, rate_msg_s: 400, duration_s: 2, warmup_s: 1}
"""
LATE = """\
systems: {nats: {topologies: [single], queues: [jetstream-file]}}
test_cases: [publish]
load:
  generator: nats
  green_threads: 1
  acks: multiple
  rate_msg_s: 400
  consume_after_s: 2
  duration_s: 3
  warmup_s: 1
  cooldown_s: 1
"""


def measured(text: str, folder: Path) -> dict[str, Any]:
    outcome = sweep(parse_plan(text, Path("nats.yaml")), text, folder, Silent())
    assert outcome.failed == ()
    return doubted(folder)


def test_three_nodes_lose_nothing(tmp_path: Path) -> None:
    """Core NATS and streams with three replicas keep the order; streams confirm messages.

    The record is complete, and has no password.
    """
    frames = measured(PLAN, tmp_path)
    counts = frames["messages"]
    assert list(counts["sent"]) == list(counts["received"])
    assert all_due(counts["sent"], 1600)
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert list(counts[name]) == [0] * 2, name
    assert counts["disagreements"].isna().all()
    latency = frames["latency"].set_index("queues")["confirm_p50_s"]
    assert latency.isna().to_dict() == {"core": True, "jetstream-file-r3": False}
    used = frames["cpu"].query("kind == 'broker' and scope == 'window'")
    assert set(used["process"]) == {"Broker 1", "Broker 2", "Broker 3"}
    for run in runs(tmp_path):
        assert run.damaged() == []
        assert '"password": "***"' in (run.path / "broker" / "broker3-nats.conf").read_text()


def test_late_consumers_get_all_waiting_messages(tmp_path: Path) -> None:
    """They start with the first message of the stream."""
    frames = measured(LATE, tmp_path)
    [counts] = frames["messages"].to_dict("records")
    assert (counts["received"], counts["lost"]) == (counts["sent"], 0)
    assert all_due([counts["sent"]], 2000)
    phases = frames["backlog"].set_index("backlog_phase")
    assert phases.loc["building", "throughput_msg_s"] == 0
    assert 400 <= phases.loc["draining", "waiting"] <= 840  # 800 without pauses


@pytest.fixture(scope="module")
def server() -> Iterator[Nats]:
    host, settings = LocalHost(), {"topology": "single"}
    with (
        host.scratch("test-nats") as folder,
        SYSTEMS["nats"].start(settings, [HostFolder(host, folder)]) as deployment,
    ):
        assert isinstance(deployment, Nats)
        yield deployment


def case_of(queues: str, seconds: int = 5, **parameters: int) -> Case:
    return Case.model_validate(
        {
            "system": "nats",
            "topology": "single",
            "queues": queues,
            "test_case": "publish",
            "generator": "nats",
            "green_threads": 1,
            "duration_s": seconds,
            "parameters": parameters,
        }
    )


def flow_on(server: Nats, folder: Path, queues: str, seconds: int = 5, **parameters: int) -> Flow:
    case = case_of(queues, seconds, **parameters)
    return Flow(job_of(case, folder, server.provision(case, folder.name)))


async def connected(server: Nats) -> Client:
    endpoint = server.nodes_of_all
    return await nats.connect(
        f"nats://{endpoint.addresses[0]}", user=endpoint.user, password=endpoint.password
    )


def pid_of(server: Nats) -> int:
    """The process ID of the last node."""
    *_, node = server.nodes
    assert node.process is not None
    return node.process.pid


def subject_of(flow: Flow, label: str = "server-1") -> str:
    return str(flow.orders(label)["threads"][0]["address"])


def run(server: Nats, work: Any) -> Any:  # noqa: ANN401 (nats-py has no types)
    async def call() -> Any:  # noqa: ANN401
        client = await connected(server)
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(call())


async def streams(client: Client) -> list[str | None]:
    return [info.config.name for info in await client.jetstream().streams_info()]


def test_nats_py_reads_what_was_published(server: Nats, tmp_path: Path) -> None:
    """From a stream: each body once, in order, with its length; a subscriber then removes it."""
    flow = flow_on(server, tmp_path, "jetstream-memory", message_count=200, payload_bytes=500)

    async def read(client: Client) -> list[bytes]:
        consumer = await client.jetstream().pull_subscribe(subject_of(flow, "client-1"))
        return [message.data for message in await consumer.fetch(200, timeout=20)]

    with flow:
        flow.start("client-1")
        flow.begin()
        flow.end()
        bodies = run(server, read)
        flow.start("server-1")
        flow.end()
    assert {len(body) for body in bodies} == {500}
    stamps = np.frombuffer(b"".join(body[:SIZE] for body in bodies), STAMP)
    assert stamps["number"].tolist() == [*range(200)]
    assert flow.counts("client-1").streams["confirmed"].count == 200
    assert flow.counts("server-1").streams["received"].count == 200
    assert eventually(lambda: run(server, streams) == [])


def test_a_killed_subscriber_leaves_no_stream(server: Nats, tmp_path: Path) -> None:
    """The streams of a run are removed after it, and those of other runs stay."""
    case = case_of("jetstream-file")
    runs_of = [tmp_path / "killed", tmp_path / "other"]
    for folder in runs_of:
        folder.mkdir()
        with Flow(job_of(case, folder, server.provision(case, folder.name))) as flow:
            flow.start("server-1")  # killed at the end of this context
    left, kept = (LAUNCHERS["nats"].queues(case, folder.name) for folder in runs_of)
    assert sorted(run(server, streams)) == sorted([*left, *kept])
    for of_run, remaining in ((left, kept), (kept, [])):
        server.clean_up("", of_run)
        assert run(server, streams) == remaining
    server.clean_up("", left)  # again, without streams


def test_what_nats_py_publishes_is_foreign(server: Nats, tmp_path: Path) -> None:
    """With or without headers, short or as long as a stamp: counted as foreign."""
    flow = flow_on(server, tmp_path, "core", message_count=50)

    async def publish(client: Client) -> None:
        for body in (b"short", bytes(SIZE), b"long" * SIZE):
            await client.publish(subject_of(flow), body)
            await client.publish(subject_of(flow), body, headers={"a": "header"})

    with flow:
        flow.start("server-1")
        run(server, publish)
        flow.start("client-1")
        flow.begin()
        flow.end()
    received = flow.counts("server-1")
    assert received.streams["received"].count == 56
    assert size(received.numbers["received"]["client-1.1"].ranges) == 50
    assert size(received.numbers["received"]["stranger"].ranges) == 6


def test_a_slow_subscriber_of_core_nats_loses_messages(server: Nats, tmp_path: Path) -> None:
    """The server disconnects it; it reconnects and misses the messages in between."""
    flow = flow_on(server, tmp_path, "core", 15, message_count=12, payload_bytes=10_000_000)
    with flow:
        flow.start("server-1")
        flow.start("client-1")
        slow = psutil.Process(flow.processes["server-1"].pid)
        log = Path(psutil.Process(pid_of(server)).cwd()) / "server.log"
        slow.suspend()
        flow.begin()
        assert eventually(lambda: "Slow Consumer Detected" in log.read_text())
        slow.resume()
        flow.end()
    sent, received = (flow.counts(label).streams for label in ("client-1", "server-1"))
    assert received["received"].count < sent["sent"].count
    events = [event["what"] for event in flow.diary("server-1")["events"]]
    assert events == ["disconnected", "reconnected"]


class Late(LocalHost):
    """A host on which Broker 2 starts after the others have elected a leader."""

    @override
    def start(self, label: str, argv: Sequence[str], **options: Any) -> Process:
        """Delay the start of Broker 2."""
        if label == "Broker 2":
            argv = ("sh", "-c", 'sleep 3; exec "$@"', "sh", *argv)
        return super().start(label, argv, **options)


def test_a_cluster_is_ready_when_its_last_node_has_joined(tmp_path: Path) -> None:
    """A late node may never log the leader, but can create replicas all the same."""
    with SYSTEMS["nats"].start({}, [HostFolder(Late(), tmp_path)]) as running:
        assert isinstance(running, Nats)
        late = running.nodes_of_all.addresses[1]
        login = running.nodes_of_all.user, running.nodes_of_all.password

        async def replicas() -> int:
            client = await nats.connect(f"nats://{late}", user=login[0], password=login[1])
            stream = await client.jetstream().add_stream(
                name="all", subjects=["all"], num_replicas=3
            )
            await client.close()
            assert stream.cluster is not None
            return len(stream.cluster.replicas or ())

        assert asyncio.run(replicas()) == 2


def test_the_error_names_the_node_that_does_not_answer(tmp_path: Path) -> None:
    """The other two have a leader, which is not enough."""
    with SYSTEMS["nats"].start({}, [HostFolder(LocalHost(), tmp_path)]) as running:
        assert isinstance(running, Nats)
        psutil.Process(pid_of(running)).suspend()
        third = re.escape(running.nodes_of_all.addresses[2])
        with pytest.raises(SystemFault, match=f"NATS is not ready: .*{third}"):
            running.manage("is not ready", 60, "await", "1")


OWNER = """
    import json, sys
    from mqperf.hosts import LocalHost, HostFolder
    from mqperf.lab.systems import SYSTEMS

    host = LocalHost()
    with (
        host.scratch("test") as folder,
        SYSTEMS["nats"].start({}, [HostFolder(host, folder)]) as running,
    ):
        pids = [node.process.pid for node in running.nodes]
        print(json.dumps({"folder": str(folder), "pids": pids}), flush=True)
        sys.stdin.read()
"""


def test_nats_dies_with_its_owner() -> None:
    """A SIGKILL of mqperf leaves no process and no folder."""
    assert nothing_outlives(OWNER, processes=3)


def test_it_listens_on_loopback_only_and_shows_no_password(server: Nats) -> None:
    """No argument or variable has the password; its file is readable by the owner only."""
    process, secret = psutil.Process(pid_of(server)), server.nodes_of_all.password
    assert {*listening(process)} == {"127.0.0.1"}
    assert secret not in " ".join([*process.cmdline(), *process.environ().values()])
    config = Path(process.cwd()) / "nats.conf"
    assert secret in config.read_text()
    assert config.stat().st_mode & 0o077 == 0
