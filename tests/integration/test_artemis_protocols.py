"""STOMP, OpenWire and Core on a real Artemis: every message is accounted for, also by Proton."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from load_by_hand import Flow, await_instant, job_of
from patience import all_due

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.load.oslo.library import library
from mqperf.lab.load.oslo.releases import find
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.system import Deployment
from mqperf.onhost.record.numbers import size
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.study import stats, tables
from mqperf_activemq.onhost.protocols import PROTOCOLS
from mqperf_numbered.onhost.stamps import STAMP

pytestmark = pytest.mark.needs_java

PLAN = """\
systems: {artemis: {topologies: [single]}}
test_cases: [publish]
load:
  generator:
    stomp: {acks: [each, multiple]}
    openwire: {acks: [each, multiple]}
    artemis-core: {acks: [each, multiple]}
    amqp-1.0: {}
  delivery: persistent
  green_threads: 2
  rate_msg_s: 400
  payload_bytes: 500
  duration_s: 2
  warmup_s: 1
"""

each_protocol = pytest.mark.parametrize("generator", PROTOCOLS)


def test_every_message_is_accounted_for_by_every_protocol(tmp_path: Path) -> None:
    """All are sent, received once, in order, and confirmed, in both modes of acknowledgement."""
    outcome = sweep(parse_plan(PLAN, Path("artemis.yaml")), PLAN, tmp_path, Silent())
    assert outcome.failed == ()
    frames = stats.complete(tables.read(tmp_path))
    assert sorted(frames["runs"]["generator"]) == sorted([*PROTOCOLS, *PROTOCOLS, "amqp-1.0"])
    counts = frames["messages"]
    assert list(counts["sent"]) == list(counts["received"])
    assert all_due(counts["sent"], 1600)
    for name in ("lost", "duplicates", "foreign", "errors", "reordered"):
        assert list(counts[name]) == [0] * 7, name
    assert counts["disagreements"].isna().all()
    assert (frames["latency"]["confirm_p50_s"] > 0).all()
    assert not {"lost", "record-disagrees"} & set(frames["doubts"]["kind"])


@pytest.fixture(scope="module")
def artemis() -> Iterator[Deployment]:
    host = LocalHost()
    with (
        host.scratch("test-artemis") as folder,
        SYSTEMS["artemis"].start({}, [HostFolder(host, folder)]) as deployment,
    ):
        yield deployment


class Proxy:
    """A TCP proxy to the broker; ``cut`` closes all present connections, new ones are accepted."""

    def __init__(self, to: str) -> None:
        host, _, port = to.rpartition(":")
        self.to, self.sockets = (host, int(port)), list[socket.socket]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        opened, self.sockets = self.sockets, []
        for each in opened:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                inside, outside = self.listener.accept()[0], socket.create_connection(self.to)
                self.sockets += [inside, outside]
                for pair in ((inside, outside), (outside, inside)):
                    threading.Thread(target=self._forward, args=pair, daemon=True).start()

    def close(self) -> None:
        with self.listener:
            self.listener.shutdown(socket.SHUT_RDWR)

    def _forward(self, source: socket.socket, to: socket.socket) -> None:
        with source, suppress(OSError):
            while content := source.recv(1 << 16):
                to.sendall(content)
        with suppress(OSError):
            to.shutdown(socket.SHUT_RDWR)


def flow_on(artemis: Deployment, folder: Path, generator: str, at: str = "", **load: float) -> Flow:
    case = Case.model_validate(
        {
            "system": "artemis",
            "topology": "single",
            "queues": "classic",
            "test_case": "publish",
            "generator": generator,
            "green_threads": 1,
            "duration_s": 60,
            "parameters": load,
        }
    )
    access = artemis.provision(case, folder.name)
    if at:
        access = replace(
            access,
            client=replace(access.client, addresses=(at,)),
            server=replace(access.server, addresses=(at,)),
        )
    return Flow(job_of(case, folder, access))


@each_protocol
def test_after_a_lost_connection_every_message_is_accounted_for(
    artemis: Deployment, tmp_path: Path, generator: str
) -> None:
    """Both reconnect; no confirmed message is lost."""
    proxy = Proxy(artemis.nodes[0].name)
    load = {"rate_msg_s": 400.0, "message_count": 2000, "confirms": 200}
    flow = flow_on(artemis, tmp_path, generator, proxy.address, **load)
    with flow:
        for label in flow.commands:
            flow.start(label)
        await_instant(flow.begin() + 2)
        proxy.cut()
        flow.end()
    proxy.close()
    sent, confirmed = flow.numbers_after_reconnection()
    assert size(sent.ranges) == 2000
    unconfirmed = 2000 - size(confirmed.ranges)
    assert flow.diary("client-1")["counts"]["unconfirmed"] == unconfirmed


@each_protocol
def test_proton_reads_what_was_published(
    artemis: Deployment, tmp_path: Path, generator: str
) -> None:
    """Over AMQP 1.0, from the same queue: each body once, in order, with its length."""
    flow = flow_on(artemis, tmp_path, generator, message_count=200, payload_bytes=300)
    with flow:
        flow.start("client-1")
        address = flow.orders("client-1")["threads"][0]["address"]
        site = library("proton for tests", find("amqp"), LocalHost()).path
        env = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(map(str, site))}
        program = Path(__file__).with_name("proton_peer.py")
        argv = [sys.executable, "-W", "ignore", str(program), "receive"]
        argv += [artemis.nodes[0].name, address, "200"]
        flow.begin()
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=True)
        flow.end()
    _, *messages = map(json.loads, done.stdout.splitlines())
    assert {message["size"] for message in messages} == {300}
    stamps = np.frombuffer(bytes.fromhex("".join(each["stamp"] for each in messages)), STAMP)
    assert stamps["number"].tolist() == [*range(200)]
    assert len({message["sha256"] for message in messages}) == 200
    assert flow.counts("client-1").streams["confirmed"].count == 200
