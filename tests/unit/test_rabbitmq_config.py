"""The specification of a private RabbitMQ cluster."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.releases import Version, parsed
from mqperf.base.urls import BrokerUrl
from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems import starts
from mqperf.lab.systems.certificates import Certificates, issued
from mqperf.lab.systems.possible import check_plan
from mqperf.lab.systems.rabbitmq import modules
from mqperf.lab.systems.rabbitmq.config import NODES, Cluster, Secrets, port_count
from mqperf.lab.systems.rabbitmq.installation import Installation
from mqperf.lab.systems.rabbitmq.settings import Settings, parse_settings
from mqperf.lab.systems.rabbitmq.urls import address
from mqperf.lab.systems.rabbitmq.version import kind_of_queue
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.plan.load import GENERATORS

PORTS = range(20_000, 20_000 + port_count())


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    settings = Settings(management=True)
    there = Installation(Path("/usr/lib/rabbitmq/bin"), "3.10.8")
    host = LocalHost()
    host_folders = [HostFolder(host, tmp_path / "cluster")] * NODES
    return Cluster(host_folders, PORTS, settings, (3, 10, 8), {host.name: there}, Secrets())


def a_case(**changes: object) -> Case:
    fields = {
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": "rpc-call",
        "green_threads": 1,
        "duration_s": 1,
    }
    return Case.model_validate(fields | changes)


def test_every_port_is_used_once(cluster: Cluster) -> None:
    """No two listeners of a cluster want the same port."""
    used = [cluster.epmd_port]
    for index in range(NODES):
        environment = cluster.node_environment(index)
        used += [int(environment[f"RABBITMQ_{kind}_PORT"]) for kind in ("NODE", "DIST")]
        used.append(cluster.management_port(index))
        used += [int(each.rpartition(":")[2]) for each in cluster.addresses(index).values()]
    ctl = cluster.ctl_environment(cluster.host_folders[0])
    first, last = (int(ctl[f"RABBITMQ_CTL_DIST_PORT_{end}"]) for end in ("MIN", "MAX"))
    used += range(first, last + 1)
    assert sorted(used) == list(PORTS)


def test_node_reads_and_writes_its_own_folder_only(cluster: Cluster) -> None:
    """Nothing under /etc or /var is read, and no node uses files of another."""
    paths = [
        value
        for name, value in cluster.node_environment(1).items()
        if name.startswith("RABBITMQ_") and value.startswith("/") and value != "/dev/null"
    ]
    assert len(paths) >= 10
    assert all(Path(path).is_relative_to(cluster.node_folder(1).folder) for path in paths)


def test_files_are_for_their_owner_only(cluster: Cluster) -> None:
    """Other users of the machine can read neither password nor cookie."""
    cluster.write_homes()
    for index in range(NODES):
        cluster.node(index).write()
    folder = cluster.host_folders[0].folder
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 2 + 2 * NODES
    assert {path.stat().st_mode & 0o077 for path in [folder, *files]} == {0}
    assert cluster.secrets.password in (cluster.node_folder(0).folder / "rabbitmq.conf").read_text()


def test_secrets_are_random_and_never_shown(cluster: Cluster) -> None:
    """Clusters have different passwords, and none is printed by accident."""
    other, ours = Secrets(), cluster.secrets
    assert other.password != ours.password
    assert other.cookie != ours.cookie
    nodes = [cluster.node(index) for index in range(NODES)]
    shown = [
        repr(cluster),
        *map(repr, nodes),
        *cluster.node_environment(0).values(),
        *cluster.ctl_environment(cluster.host_folders[0]).values(),
    ]
    shown += [ours.redacted(cluster.config(0) + ours.cookie), *map(repr, cluster.port_mappers())]
    assert not [text for text in shown if ours.password in text or ours.cookie in text]


@pytest.mark.parametrize(("version", "together"), [((3, 10, 8), True), ((4, 0, 5), False)])
def test_modules_are_loaded_together_where_all_are(
    cluster: Cluster, version: Version, *, together: bool
) -> None:
    """RabbitMQ 4 loads most on demand."""
    replace(cluster, version=version).write_homes()
    assert (cluster.host_folders[0].folder / modules.FILE).exists() == together


def test_management_is_off_unless_asked_for(cluster: Cluster) -> None:
    """The plugin would use CPU of the broker under test."""
    assert "management.tcp.ip = 127.0.0.1" in cluster.config(0)
    assert "management" not in replace(cluster, settings=Settings()).config(0)


def test_nodes_tell_of_their_inside_when_asked_to(cluster: Cluster) -> None:
    """The Prometheus plugin listens on each node's address only if metrics are requested."""
    telling = replace(cluster, settings=parse_settings({"metrics": True}))
    node = telling.node(1)
    assert node.files["enabled_plugins"] == "[rabbitmq_prometheus]."
    assert "prometheus.tcp.ip = 127.0.0.1" in node.files["rabbitmq.conf"]
    assert node.inside is not None
    assert node.inside.address == telling.addresses(1)["free"]
    assert cluster.node(1).inside is None
    assert "prometheus" not in cluster.config(1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"managment": True}, r"settings\.managment: unknown key; did you mean 'management'"),
        ({"memory_watermark_mb": 1}, r"settings\.memory_watermark_mb: expected at least 64, got 1"),
        ({"nodes": ["a"]}, "1 nodes but 0 urls"),
        ({"nodes": ["a"], "urls": ["rabbit://u:${NO_SUCH_VARIABLE}@h"]}, "NO_SUCH_VARIABLE"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, object], message: str) -> None:
    """The error names the wrong setting and the valid ones."""
    with pytest.raises(SystemFault, match=message):
        parse_settings(settings)  # type: ignore[arg-type]


def test_password_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan holds no password; one with special characters still makes a valid URL."""
    monkeypatch.setenv("SECRET", "p@ss/word")
    parsed = parse_settings({"nodes": ["a"], "urls": ["rabbit://u:${SECRET}@h:5672"]})
    assert parsed.endpoints[0].credentials == ("u", "p@ss/word")
    assert "p%40ss" not in repr(parsed)


def test_wrong_settings_do_not_repeat_a_password() -> None:
    """An error about a URL shows no password."""
    with pytest.raises(SystemFault) as fault:
        parse_settings({"urls": ["rabbit://u:secret@h:5672"]})
    assert "secret" not in str(fault.value)


@pytest.mark.parametrize(
    ("planned", "version", "kind"),
    [
        ("ha", "3.10.8", "mirrored"),
        ("ha", "3.13.7", "mirrored"),
        ("ha", "4.0.5", "quorum"),
        ("mirrored", "3.10.8", "mirrored"),
        ("quorum", "4.1.0-rc.1", "quorum"),
        ("classic", "4.1.0", "classic"),
    ],
)
def test_kind_of_queue_is_what_the_version_has(planned: str, version: str, kind: str) -> None:
    """HA queues are mirrored queues if the version has them, else quorum queues."""
    assert kind_of_queue(planned, version) == kind


def test_mirrored_queues_need_rabbitmq_3() -> None:
    """With later versions the error says why there are none, and what to plan instead."""
    with pytest.raises(SystemFault, match=re.escape("removed in 4.0: plan queues: [ha]")):
        kind_of_queue("mirrored", "4.1.0")


def test_streams_need_rabbitmq_3_9() -> None:
    """An older version is refused, and the error names the first one with streams."""
    assert kind_of_queue("stream", "3.9.0") == "stream"
    with pytest.raises(SystemFault, match=re.escape("RabbitMQ 3.8.34 has no streams")):
        kind_of_queue("stream", "3.8.34")


def test_with_certificates_there_is_no_other_way_in(cluster: Cluster) -> None:
    """With TLS no listener is without it, and no variable opens one."""
    encrypted = replace(cluster, certificates=Certificates("authority", "nodes", "the key"))
    for index in range(3):
        config = encrypted.config(index)
        assert "listeners.tcp = none\n" in config
        assert f"listeners.ssl.1 = 127.0.0.1:{cluster.amqp_port(index)}\n" in config
        assert "the key" not in config + str(encrypted.node(index).files)
        assert "RABBITMQ_NODE_PORT" not in encrypted.node(index).env
    assert "ssl" not in cluster.config(0)
    assert "the key" not in repr(encrypted)


def test_tls_of_a_cluster_that_is_there_is_refused() -> None:
    """mqperf does not change an existing cluster."""
    with pytest.raises(SystemFault, match="tls is for a cluster that mqperf starts"):
        parse_settings({"tls": True, "nodes": ["a"], "urls": ["amqp://u:p@h:5671"]})


@pytest.mark.parametrize(
    ("urls", "words"),
    [
        (["amqps://u:p@h"], r"who signed the certificate: add \?ssl_ca_file=/PATH/TO/FILE\.pem"),
        (["amqps://u:p@h?ssl_ca_file=ca.pem"], r"not an absolute path: ca\.pem"),
        (["amqps://u:p@h?ssl_ca_file=/no/ca.pem"], r"/no/ca\.pem: cannot be read: No such file"),
        (["amqps://u:p@h?ssl_ca_file=/etc/passwd"], "/etc/passwd: holds no certificates in PEM"),
        (["amqps://u:p@h?ssl_ca_file=/dev/zero"], "/dev/zero: cannot be read: it is no file"),
        (["amqps://u:p@h?ssl_ca_file=/x", "amqp://u:p@h"], "some urls begin with amqps://"),
    ],
)
def test_ca_files_are_checked_before_anything_starts(urls: list[JsonValue], words: str) -> None:
    """The error is one line, without the password."""
    nodes: list[JsonValue] = ["a", "b"]
    with pytest.raises(SystemFault, match=words) as fault:
        parse_settings({"nodes": nodes[: len(urls)], "urls": urls})
    assert "u:p" not in str(fault.value)


def test_an_empty_ca_file_is_an_error(tmp_path: Path) -> None:
    """An empty CA file is an error; it does not turn off encryption."""
    empty = tmp_path / "ca.pem"
    empty.touch()
    with pytest.raises(SystemFault, match="holds no certificates in PEM"):
        parse_settings({"nodes": ["a"], "urls": [f"amqps://u:p@h?ssl_ca_file={empty}"]})


def test_urls_without_a_port_lead_to_the_one_of_their_scheme() -> None:
    """The ports are RabbitMQ's defaults, for plain connections and TLS."""
    for url, expected in (
        ("amqp://u:p@mq1/perf", "mq1:5672"),
        ("amqps://u:p@[::1]?ssl_ca_file=/ca.pem", "[::1]:5671"),
        ("rabbit://u:p@mq1:9/perf", "mq1:9"),
    ):
        assert address(BrokerUrl.parse(url)) == expected


def test_a_host_without_openssl_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes before any server is started."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(SystemFault, match="OpenSSL is not installed: sudo apt-get install"):
        issued(HostFolder(LocalHost(), tmp_path / "certificates"), ["127.0.0.1"])
    assert not (tmp_path / "certificates").exists()


def test_a_generator_without_tls_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is one line, and comes only if the plan requests TLS."""
    plain = replace(GENERATORS["simulator"], encrypts=False)
    monkeypatch.setitem(GENERATORS._values, "simulator", plain)
    text = (
        "systems: {rabbitmq: {topologies: [cmsm], settings: {tls: TLS}}}\n"
        "test_cases: [rpc-cast]\nload: {green_threads: 1, duration_s: 1}\n"
    )
    check_plan(parse_plan(text.replace("TLS", "false"), Path("here.yaml")))
    with pytest.raises(PlanError, match="does not speak TLS: leave out tls of RabbitMQ"):
        check_plan(parse_plan(text.replace("TLS", "[false, true]"), Path("here.yaml")))


def test_newest_version_counts_as_number() -> None:
    """Version 3.13 is newer than 3.9."""
    assert max(["3.9.29", "3.13.7"], key=parsed) == "3.13.7"


def test_nodes_since_3_13_wait_for_each_other(cluster: Cluster) -> None:
    """A node retries for as long as the others may take to start, or else it would stay alone."""
    newer = replace(cluster, version=(3, 13, 7))
    assert "discovery_retry_limit = 1200\n" in newer.config(0)
    assert "discovery_retry_limit = 1\n" in cluster.config(0)


def test_a_single_broker_looks_for_no_other(cluster: Cluster) -> None:
    """It is not configured as a cluster of one, and is called by its own name."""
    alone = replace(cluster, host_folders=cluster.host_folders[:1])
    assert "cluster_formation" in cluster.config(0)
    assert "cluster_formation" not in alone.config(0)
    assert (cluster.node(0).label, alone.node(0).label) == ("Master", "Broker")


OF_EACH = (
    "systems: {rabbitmq: {topologies: [cmsm, single, cs1ss2]}}\n"
    "test_cases: [rpc-call]\nload: {green_threads: [1, 2], duration_s: 1}\n"
)


def test_a_single_broker_is_started_by_itself() -> None:
    """Consecutive topologies of the cluster share one deployment; a single broker has its own."""
    for order, blocks in (
        ("cmsm, single, cs1ss2", [{"cmsm"}, {"single"}, {"cs1ss2"}]),
        ("single, cmsm, cs1ss2", [{"single"}, {"cmsm", "cs1ss2"}]),
    ):
        text = OF_EACH.replace("cmsm, single, cs1ss2", order)
        started = starts(parse_plan(text, Path("here.yaml")).cases())
        assert [{case.topology for case in block} for block in started] == blocks


@pytest.mark.parametrize(
    ("systems", "words"),
    [
        (
            "queues: [classic, mirrored]",
            "rabbitmq.queues entry 2: mirrored queues: topology single is one broker, which",
        ),
        ("queues: [ha]", "rabbitmq.queues entry 1: ha queues: topology single is one broker"),
        (
            "settings: {nodes: [a, b], urls: ['amqp://u:p@a', 'amqp://u:p@b']}",
            "single is one broker: give one node and one URL instead of 2",
        ),
    ],
)
def test_what_a_single_broker_has_not_is_refused(systems: str, words: str) -> None:
    """The error comes before anything starts; a cluster accepts the same."""
    text = OF_EACH.replace("[cmsm, single, cs1ss2]", f"[TOPOLOGY], {systems}")
    check_plan(parse_plan(text.replace("TOPOLOGY", "cmsm"), Path("here.yaml")))
    with pytest.raises(PlanError, match=words):
        check_plan(parse_plan(text.replace("TOPOLOGY", "single"), Path("here.yaml")))
