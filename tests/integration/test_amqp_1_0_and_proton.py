"""The generator ``amqp-1.0`` and a router; python-qpid-proton checks both independently."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import Any

import numpy as np
import pytest
from listeners import accepts
from load_by_hand import Flow, await_instant, job_of
from patience import eventually
from private_routers import ROUTERS, routers

from mqperf.hosts import LocalHost
from mqperf.lab.load import Access, Endpoint, LoadJob
from mqperf.lab.load.oslo.library import library
from mqperf.lab.load.oslo.releases import find
from mqperf.onhost.machine.ports import reserved
from mqperf.plan import Case
from mqperf_amqp_1_0.onhost import codec, links, orders
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_amqp_1_0.onhost.sender_thread import body
from mqperf_amqp_1_0.study.outcomes import OUTCOMES
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.broker import Broker, Lost, Refused

pytestmark = pytest.mark.needs_router


@pytest.fixture(scope="module")
def router() -> Iterator[Broker]:
    """One router, shared by all tests that only send and receive."""
    with routers("standalone") as deployment:
        yield Broker((deployment.nodes[0].name,), "", "", "/")


# python-qpid-proton, an independent implementation


@pytest.fixture(scope="module")
def proton() -> Callable[..., Popen[str]]:
    """Starts python-qpid-proton as a sender or receiver."""
    site = library("proton for tests", find("amqp"), LocalHost()).path
    program = Path(__file__).with_name("proton_peer.py")

    def start(*words: object) -> Popen[str]:
        path = os.pathsep.join(map(str, site))
        env = {"PATH": os.defpath, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        argv = [sys.executable, "-W", "ignore", str(program), *map(str, words)]
        return Popen(argv, env=env, stdout=subprocess.PIPE, text=True)

    return start


def lines(peer: Popen[str]) -> Iterator[Any]:
    """The JSON lines that the peer prints."""
    assert peer.stdout is not None
    for line in peer.stdout:
        yield json.loads(line)


def job(folder: Path, broker: Broker, parameters: dict[str, object], seconds: int = 1) -> LoadJob:
    """A load of one thread."""
    case = Case.model_validate(CASE | {"duration_s": seconds, "parameters": parameters})
    end = Endpoint("amqp-1.0", tuple(broker.addresses), broker.user, broker.password)
    return job_of(case, folder, Access(end, end))


CASE = {
    "system": "qpid-dispatch",
    "topology": "standalone",
    "queues": "routed",
    "test_case": "transfer",
    "generator": "amqp-1.0",
    "green_threads": 1,
    "warmup_s": 0,
    "cooldown_s": 0,
}


@pytest.fixture
def new_flow() -> Iterator[Callable[[LoadJob], Flow]]:
    """Flows whose processes end with the test."""
    with ExitStack() as stack:
        yield lambda of: stack.enter_context(Flow(of))


@pytest.mark.parametrize("bytes_each", [32, 256, 100_000])
def test_proton_receives_what_is_sent(
    router: Broker,
    proton: Callable[..., Popen[str]],
    new_flow: Callable[[LoadJob], Flow],
    tmp_path: Path,
    bytes_each: int,
) -> None:
    """Body, durability, priority and time to live arrive unchanged, also in several frames."""
    parameters = {"payload_bytes": bytes_each, "delivery": "persistent", "priority": 7}
    load_job = job(tmp_path, router, {**parameters, "ttl_ms": 60_000, "rate_msg_s": 20.0})
    flow = new_flow(load_job)
    with proton("receive", router.addresses[0], f"{load_job.run_id}.000001", 20) as peer:
        got = lines(peer)
        assert next(got) == {"ready": True}
        flow.start("client-1")
        begin = flow.begin()
        received = list(got)
        flow.end()
    order = orders.read(tmp_path / "client-1.orders")
    expected = np.zeros(20, stamps.STAMP)
    expected["run"], expected["number"] = order.run, np.arange(20)
    expected["due_ns"] = int(begin) * 10**9 + np.arange(20) * 10**9 // 20
    assert [message["size"] for message in received] == [bytes_each] * 20
    for place, message in enumerate(received):
        stamp = bytes.fromhex(message["stamp"])
        expected["sent_ns"][place] = np.frombuffer(stamp, stamps.STAMP)["sent_ns"][0]
        whole = expected[place].tobytes() + body(order)[stamps.SIZE :]
        assert hashlib.sha256(whole).hexdigest() == message["sha256"]
    assert {(message["durable"], message["priority"]) for message in received} == {(True, 7)}
    assert all(0 < message["ttl"] <= 60 for message in received)
    assert flow.diary("client-1")["counts"] == {"accepted": 20, "unsettled": 0}


@pytest.mark.parametrize("bytes_each", [256, 100_000])
def test_lengths_differ_by_as_much_as_the_plan_says(
    router: Broker,
    proton: Callable[..., Popen[str]],
    new_flow: Callable[[LoadJob], Flow],
    tmp_path: Path,
    bytes_each: int,
) -> None:
    """Lengths vary at random in both directions; every message is whole and has its own stamp."""
    parameters = {"payload_spread": 0.05, "rate_msg_s": 100.0, "message_count": 100}
    load_job = job(tmp_path, router, {"payload_bytes": bytes_each, **parameters}, seconds=30)
    flow = new_flow(load_job)
    with proton("receive", router.addresses[0], f"{load_job.run_id}.000001", 100) as peer:
        got = lines(peer)
        assert next(got) == {"ready": True}
        flow.start("client-1")
        flow.begin()
        received = list(got)
        flow.end()
    order = orders.read(tmp_path / "client-1.orders")
    for number, message in enumerate(received):
        stamp = bytes.fromhex(message["stamp"])
        assert np.frombuffer(stamp, stamps.STAMP)["number"][0] == number
        rest = body(replace(order, payload_bytes=message["size"]))[stamps.SIZE :]
        assert hashlib.sha256(stamp + rest).hexdigest() == message["sha256"]
    share = np.array([message["size"] for message in received]) / bytes_each - 1
    assert len(share) == 100
    assert abs(share).max() < 0.052
    assert len({*share}) > 5
    assert abs(share.mean()) < 0.02


@pytest.mark.parametrize("bytes_each", [32, 256, 100_000])
def test_what_proton_sends_is_received(
    router: Broker,
    proton: Callable[..., Popen[str]],
    new_flow: Callable[[LoadJob], Flow],
    tmp_path: Path,
    bytes_each: int,
) -> None:
    """Every stamp is received exactly; messages without a stamp are counted separately."""
    load_job = job(tmp_path, router, {"payload_bytes": bytes_each, "rate_msg_s": 100.0})
    flow = new_flow(load_job)
    flow.start("server-1")
    begin = flow.begin()
    count = 300 if bytes_each < 1000 else 30
    stamp = np.zeros(count, stamps.STAMP)
    stamp["run"] = orders.read(tmp_path / "server-1.orders").run
    stamp["number"] = np.arange(count)
    stamp["due_ns"], stamp["sent_ns"] = int(begin * 10**9), int(begin * 10**9) + 5_000_000
    bodies = [row.tobytes() + bytes(bytes_each - stamps.SIZE) for row in stamp]
    file = tmp_path / "bodies"
    file.write_text(json.dumps([each.hex() for each in [*bodies, b"no stamp", bytes(bytes_each)]]))
    with proton("send", router.addresses[0], f"{load_job.run_id}.000001", file) as peer:
        assert list(lines(peer)) == [{"accepted": count + 2}]
    flow.end()
    counts = flow.counts("server-1")
    ours, strangers = (counts.numbers["received"][name] for name in ("client-1.1", "stranger"))
    assert ours.ranges.tolist() == [[0, count - 1]]
    assert (ours.count, ours.reordered, len(ours.again)) == (count, 0, 0)
    assert strangers.count == 2


def test_outcomes_are_those_that_receivers_give(
    router: Broker,
    proton: Callable[..., Popen[str]],
    new_flow: Callable[[LoadJob], Flow],
    tmp_path: Path,
) -> None:
    """accepted + released + modified + rejected + unsettled = sent, as Proton counts them.

    Messages in flight when the receiver has its 150 are modified by the router.
    """
    load_job = job(tmp_path, router, {"rate_msg_s": 80.0}, seconds=2)
    flow = new_flow(load_job)
    outcomes = "accepted,released,modified,rejected,accepted"
    address = f"{load_job.run_id}.000001"
    with proton("receive", router.addresses[0], address, 150, outcomes) as peer:
        got = lines(peer)
        next(got)
        flow.start("client-1")
        flow.begin()
        given = [each["outcome"] for each in got]
        flow.end()
    counts = flow.diary("client-1")["counts"]
    sent = flow.counts("client-1").streams["sent"].count
    assert sum(counts.get(name, 0) for name in OUTCOMES) == sent >= 150
    assert counts["rejected"] == given.count("rejected") == 30
    assert 30 == given.count("modified") <= counts["modified"] <= 30 + sent - 150
    assert flow.counts("client-1").streams["error"].count == sum(
        counts.get(name, 0) for name in ("released", "modified", "rejected")
    )


# errors


@contextmanager
def bare_router(folder: Path, port: int, *more: str) -> Iterator[Popen[bytes]]:
    """A router with a configuration that no plan produces."""
    router = ["mode: standalone", "id: bare", *more]
    listener = ["host: 127.0.0.1", f"port: {port}", "saslMechanisms: ANONYMOUS"]
    text = "".join(
        f"{name} {{\n" + "\n".join(attributes) + "\n}\n"
        for name, attributes in (
            ("router", router),
            ("listener", [*listener, "authenticatePeer: no", "idleTimeoutSeconds: 2"]),
        )
    )
    (folder / "bare.conf").write_text(text)
    program = next(filter(None, map(shutil.which, ROUTERS)))
    with (folder / "bare.log").open("a") as log:
        process = Popen([program, "--conf", str(folder / "bare.conf")], stdout=log, stderr=log)
        try:
            assert eventually(lambda: accepts(f"127.0.0.1:{port}"))
            yield process
        finally:
            process.kill()
            process.wait()


def test_after_a_router_was_killed_every_message_is_accounted_for(
    new_flow: Callable[[LoadJob], Flow], tmp_path: Path
) -> None:
    """Both reconnect; accepted messages were received, those without an outcome are unsettled."""
    with reserved(1) as (port,):
        broker = Broker((f"127.0.0.1:{port}",), "", "", "/")
        with bare_router(tmp_path, port):
            parameters: dict[str, object] = {"rate_msg_s": 2000.0, "message_count": 10_000}
            flow = new_flow(job(tmp_path, broker, parameters, seconds=60))
            flow.start("server-1")
            flow.start("client-1")
            begin = flow.begin()
            await_instant(begin + 2)
        with bare_router(tmp_path, port):
            flow.end()
    sent, accepted = flow.numbers_after_reconnection()
    counts = flow.diary("client-1")["counts"]
    assert sum(counts.get(name, 0) for name in OUTCOMES) == sent.count == 10_000
    assert counts["accepted"] == accepted.count


def test_an_idle_connection_is_kept(tmp_path: Path) -> None:
    """Keep-alives prevent the router from closing a connection that is idle for two seconds."""
    with reserved(1) as (port,), bare_router(tmp_path, port):
        connection = Connection(Broker((f"127.0.0.1:{port}",), "", "", "/"))
        assert connection.heartbeat_s == pytest.approx(2, abs=1)
        connection.flowing()
        limit = time.monotonic() + 6
        while time.monotonic() < limit:
            connection.keep_alive()
            connection.fill()
            time.sleep(0.1)
        connection.socket.settimeout(5)
        assert connection.close(5)


def test_an_idle_connection_that_is_not_kept_is_ended(tmp_path: Path) -> None:
    """Without keep-alives the router closes it, so the test above is meaningful."""
    with reserved(1) as (port,), bare_router(tmp_path, port):
        connection = Connection(Broker((f"127.0.0.1:{port}",), "", "", "/"))
        with pytest.raises((Lost, Refused), match="closed"):
            connection.expect(codec.ATTACH)
        connection.socket.close()


def test_a_refused_link_is_reported_with_its_condition(tmp_path: Path) -> None:
    """For an unknown address the error has the router's condition."""
    with reserved(1) as (port,), bare_router(tmp_path, port, "defaultDistribution: unavailable"):
        connection = Connection(Broker((f"127.0.0.1:{port}",), "", "", "/"))
        wanted = links.Wanted(0, "nowhere", sends=True, settled=False)
        with pytest.raises(Refused, match="no link with nowhere: amqp:not-found"):
            links.attached(connection, wanted, lambda _: None)
        connection.socket.close()


def test_credit_that_never_comes_is_reported(
    new_flow: Callable[[LoadJob], Flow], router: Broker, tmp_path: Path
) -> None:
    """A router gives no credit for an address without a receiver."""
    flow = new_flow(job(tmp_path, router, {}, seconds=1))
    flow.start("client-1")
    flow.begin()
    flow.end(refused="client-1")
    assert "no credit was ever given for " in flow.stderr("client-1")
    assert flow.counts("client-1").streams["sent"].count == 0


def test_a_mechanism_that_is_not_offered_is_reported(router: Broker) -> None:
    """The error lists the SASL mechanisms that are offered."""
    named = Broker(router.addresses, "user", "secret", "/")
    with pytest.raises(Refused, match="SASL PLAIN is not offered, but ANONYMOUS"):
        Connection(named)


def test_a_refused_tcp_connection_is_reported() -> None:
    """The error names the address."""
    with reserved(1) as (port,), pytest.raises(Lost, match=rf"127.0.0.1:{port}: Connection refu"):
        Connection(Broker((f"127.0.0.1:{port}",), "", "", "/"))
