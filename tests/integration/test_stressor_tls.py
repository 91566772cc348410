"""The stressor and a RabbitMQ that accepts TLS connections only."""

import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from one_rabbitmq import close_connections
from patience import all_due
from pydantic import SecretStr
from test_stressor import PLAN
from test_stressor_disturbed import Disturbed

from mqperf.base.errors import SystemFault
from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.certificates import issued
from mqperf.lab.systems.rabbitmq.existing import existing_cluster
from mqperf.lab.systems.rabbitmq.private import PrivateCluster, private_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.onhost.record.numbers import size
from mqperf.plan.file import parse_plan
from mqperf.study import tables
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_laboratory.hosts import Laboratory
from mqperf_numbered.onhost.broker import Broker, Lost

pytestmark = pytest.mark.needs_rabbitmq


@pytest.fixture(scope="module")
def encrypted() -> Iterator[PrivateCluster]:
    host = LocalHost()
    with (
        host.scratch("test-stressor-tls") as folder,
        private_cluster(Settings(tls=True), [HostFolder(host, folder)], nodes=1) as deployment,
    ):
        yield deployment


def tls_broker(cluster: PrivateCluster) -> Broker:
    inner = cluster._cluster
    assert inner.certificates is not None
    address = f"127.0.0.1:{inner.amqp_port(0)}"
    return Broker((address,), "mqperf", inner.secrets.password, "/", inner.certificates.authority)


def test_every_delivery_by_tls_is_accounted_for(encrypted: PrivateCluster, tmp_path: Path) -> None:
    """TLS records and frames end at different places; reconnections use TLS again."""
    parameters = {"rate_msg_s": 250.0, "confirms": 500, "acks": "multiple", "payload_bytes": 20_000}
    flow = Disturbed(tmp_path, tls_broker(encrypted), parameters, count=1000)
    flow.run(lambda: close_connections(encrypted))
    sent, confirmed = flow.numbers_after_reconnection()
    assert size(sent.ranges) == 1000
    assert size(confirmed.ranges) >= 500  # at most 500 awaited their confirm


def test_only_the_authority_of_the_run_is_trusted(
    encrypted: PrivateCluster, tmp_path: Path
) -> None:
    """Another CA, another host name, and a connection without TLS are refused."""
    broker = tls_broker(encrypted)
    foreign = issued(HostFolder(LocalHost(), tmp_path / "other"), ["127.0.0.1"]).authority
    with pytest.raises(Lost, match="certificate verify failed"):
        Connection(replace(broker, authority=foreign))
    elsewhere = broker.addresses[0].replace("127.0.0.1", "localhost")
    with pytest.raises(Lost, match=r"certificate verify failed.*not valid for 'localhost'"):
        Connection(replace(broker, addresses=(elsewhere,)))
    with pytest.raises(Lost, match="the broker ended the handshake"):
        Connection(replace(broker, authority=""))
    Connection(broker).close(5.0)


def test_keys_are_their_owners_only_and_in_no_run_folder(
    encrypted: PrivateCluster, tmp_path: Path
) -> None:
    """Neither collected files nor facts of the deployment have them."""
    inner = encrypted._cluster
    assert inner.certificates is not None
    keys = [*inner.host_folders[0].folder.rglob("*.key")]
    assert {file.name for file in keys} == {"authority.key", "nodes.key"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in keys} == {0o600}
    encrypted.collect(tmp_path)
    secret = [line for file in keys for line in file.read_text().splitlines() if "-" not in line]
    collected = [file.read_text() for file in tmp_path.iterdir()]
    for text in (*collected, json.dumps(encrypted.facts()), repr(inner)):
        assert not any(line in text for line in secret)
    assert any("listeners.ssl" in text for text in collected)


def test_tls_is_an_axis(tmp_path: Path) -> None:
    """A plan measures with and without TLS at full speed, and its runs record which."""
    load = "green_threads: 2, confirms: 20, payload_bytes: 150000, acks: each, prefetch: 20"
    text = PLAN.replace("[cmsm]", "[single], settings: {{tls: [false, true]}}")
    text = text.replace("warmup_s: 1", "warmup_s: 0, cooldown_s: 0").format(load)
    sweep(parse_plan(text, Path("test.yaml")), text, tmp_path, Silent())
    frames = tables.read(tmp_path)
    assert list(frames["runs"]["status"]) == ["done"] * 2
    assert sorted(frames["runs"]["tls"]) == ["false", "true"]
    counts = frames["messages"]
    assert list(counts["received"]) == list(counts["sent"])
    assert (counts["sent"] > 20).all()
    assert list(counts["lost"]) == list(counts["duplicates"]) == [0] * 2
    assert not any("PRIVATE KEY" in f.read_text(errors="replace") for f in files_of(tmp_path))


def test_hosts_of_their_own_speak_tls(five_hosts: Laboratory, tmp_path: Path) -> None:
    """Each node has a key and a certificate for its address, which clients elsewhere trust."""
    text = PLAN.replace("[cmsm]", "[cs1ss2], settings: {{tls: true}}").format(
        "green_threads: 2, rate_msg_s: 200, confirms: 100, acks: multiple"
    )
    given = parse_plan(text, Path("test.yaml"))
    sweep(given, text, tmp_path, Silent(), hosts=str(five_hosts.inventory))
    [row] = tables.read(tmp_path)["messages"].to_dict("records")
    assert row["received"] == row["sent"]
    assert all_due([row["sent"]], 800)
    assert not any("PRIVATE KEY" in f.read_text(errors="replace") for f in files_of(tmp_path))


@pytest.mark.parametrize(
    ("test_case", "load"),
    [
        ("rpc-call", "green_threads: 2"),
        ("rpc-chain", "generator: rpc-chain, green_threads: 1"),
        ("publish", "generator: amqp-0-9-1, green_threads: 1, rate_msg_s: 100"),
        ("publish", "generator: compute-nodes, green_threads: 1, compute_nodes: 3, pace: 20"),
    ],
)
def test_an_existing_cluster_is_reached_by_tls(
    encrypted: PrivateCluster, tmp_path: Path, test_case: str, load: str
) -> None:
    """Every generator connects if the CA file of the plan verifies the certificate."""
    inner = encrypted._cluster
    trusted, broker = tmp_path / "ca of ours.pem", tls_broker(encrypted)
    trusted.write_text(broker.authority)
    url = f"amqps://mqperf:{inner.secrets.password}@{broker.addresses[0]}?ssl_ca_file={trusted}"
    text = (
        f"systems: {{rabbitmq: {{topologies: [cmsm], settings: {{nodes: [mq1], urls: ['{url}']"
        "}}}\n"
        f"test_cases: [{test_case}]\nload: {{{load}, duration_s: 3, warmup_s: 1}}\n"
    )
    assert not sweep(parse_plan(text, Path("test.yaml")), text, tmp_path / "runs", Silent()).failed
    [row] = tables.read(tmp_path / "runs")["messages"].to_dict("records")
    assert row["sent"] > 5
    assert row["lost"] == 0
    assert not any(
        inner.secrets.password in f.read_text(errors="replace") for f in files_of(tmp_path)
    )


def test_a_cluster_with_a_certificate_of_another_ca_is_refused(
    encrypted: PrivateCluster, tmp_path: Path
) -> None:
    """Before a run starts, with an error that has the address."""
    foreign = tmp_path / "strange.pem"
    foreign.write_text(issued(HostFolder(LocalHost(), tmp_path / "other"), ["127.0.0.1"]).authority)
    url = f"amqps://mqperf:x@{tls_broker(encrypted).addresses[0]}?ssl_ca_file={foreign}"
    with pytest.raises(SystemFault, match=r"amqps://mqperf:\*\*\*@127.* certificate verify failed"):
        existing_cluster(Settings(nodes=("a",), urls=(SecretStr(url),)), [LocalHost()])


def files_of(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]
