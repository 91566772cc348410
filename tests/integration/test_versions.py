"""RabbitMQ in versions other than the installed one: from a Debian root, and from an archive."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from listeners import accepts
from patience import DOUBTS_OF_A_BUSY_MACHINE, eventually
from typing_extensions import override

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.installation import installed_version
from mqperf.lab.systems.rabbitmq.private import private_cluster
from mqperf.lab.systems.rabbitmq.settings import parse_settings
from mqperf.plan.file import parse_plan
from mqperf.study import stats, tables
from mqperf_software.hosts import debian

pytestmark = [pytest.mark.needs_rabbitmq, pytest.mark.needs_debootstrap]

HERE = LocalHost()
PACKAGE = "rabbitmq-server"
MIRRORS_OF_DEBIAN = ["apt-get", "indextargets", "Created-By: Packages", "Label: Debian"]
ADD = [sys.executable, "-m", "mqperf", "software", "add", PACKAGE]
SUITES = {"4.0": "trixie", "4.3": "forky"}

NATIVE = """\
title: AMQP 1.0 to RabbitMQ itself
systems:
  rabbitmq:
    topologies: [single]
    queues: [classic, quorum]
    settings: {version: VERSIONS}
test_cases: [transfer]
load:
  generator: amqp-1.0
  green_threads: 4
  rate_msg_s: 100
  duration_s: 2
  warmup_s: 1
"""

NATS = """\
title: NATS of another version
systems:
  nats:
    topologies: [any-node]
    queues: [jetstream-file-r3]
    settings: {version: "VERSION"}
test_cases: [publish]
load: {generator: nats, green_threads: 1, rate_msg_s: 200, duration_s: 2, warmup_s: 1}
"""

ZEROMQ = """\
title: ZeroMQ with a Redis of another version
systems:
  zeromq:
    topologies: [direct]
    queues: [none]
    settings: {redis: "VERSION", replicas: 1}
test_cases: [rpc-call]
load: {green_threads: [1], pause_s: 0.02, duration_s: 2, warmup_s: 1}
"""

STREAMS = """\
title: A stream of another version
systems:
  rabbitmq:
    topologies: [single]
    queues: [stream]
    settings: {version: "VERSION", streams: true, tls: [false, true]}
test_cases: [publish]
load:
  generator: rabbitmq-stream
  green_threads: 2
  rate_msg_s: 100
  duration_s: 3
  warmup_s: 1
"""


@pytest.fixture(scope="module")
def other() -> str:
    """A version of RabbitMQ that is not the installed one."""
    version = installed_version(HERE)
    return next(each for each in SUITES if not version.startswith(f"{each}."))


@pytest.fixture(scope="module")
def roots(other: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of roots, one of which was killed while it was made, and then made anew.

    If apt has no mirror of Debian, as on Ubuntu, tests are skipped, or fail in CI.
    """
    if not subprocess.run(MIRRORS_OF_DEBIAN, check=True, capture_output=True).stdout:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no mirror of Debian")
    suite = SUITES[other]
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(cache))
        folder = cache / "mqperf/roots"
        with subprocess.Popen([*ADD, other], stdout=subprocess.DEVNULL) as adding:
            try:
                assert eventually((folder / f"{PACKAGE}-{suite}.partial/debootstrap").exists)
                started = psutil.Process(adding.pid).children(recursive=True)
            finally:
                adding.kill()
        assert eventually(lambda: not any(map(psutil.Process.is_running, started)))
        assert debian.roots(HERE) == []

        settings = parse_settings({"version": other})
        assert f"getting RabbitMQ {other}" in " ".join(settings.getting([MultiBrokerHost()]))
        assert [*settings.getting([HERE])] == []
        yield folder
        [root] = debian.roots(HERE)
        debian.remove(HERE, root)
        assert {path.name for path in folder.iterdir()} == {f"{PACKAGE}-{suite}.lock"}


class MultiBrokerHost(LocalHost):
    """This machine, which installs further brokers into the same root to save minutes."""

    @override
    def copied(self, ours: Path) -> Path:
        if ours.name != "debian_root.sh":
            return ours
        fill = debian.place(self).parent / "fill.sh"
        fill.write_text(f'exec sh {ours} "$@" nats-server redis-server\n')
        return fill


@pytest.fixture
def second_root(roots: Path) -> Iterator[Callable[[str], str]]:
    """Copies the root under the name of another package in it; returns that package's version."""
    made: list[Path] = []

    def copy_root(package: str) -> str:
        [root] = [root for root in debian.roots(HERE) if root.package == PACKAGE]
        admin = ["--admindir", str(root.folder / "var/lib/dpkg")]
        form = ["--show", "--showformat", "${source:Upstream-Version}"]
        query = ["dpkg-query", *admin, *form, package.replace("-nox", "-base")]
        version = subprocess.check_output(query, text=True).partition("+")[0]
        folder = roots / f"{package}-{version}-{root.release}"
        subprocess.run(["cp", "-al", root.folder, folder], check=True)
        made.append(folder)
        return version

    yield copy_root
    for folder in made:
        subprocess.run(["rm", "-rf", "--one-file-system", folder], check=True)


def namespaces() -> dict[int, str]:
    """The mount namespace of each process."""
    seen = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            seen[int(process.name)] = str((process / "ns/mnt").readlink())
    return seen


def test_nodes_of_another_version_run_apart_and_leave_nothing(other: str, roots: Path) -> None:
    """No mount, process, listener or file in the root remains."""
    [root] = debian.roots(HERE)
    before = {*(root.folder / "tmp").iterdir()}
    with (
        HERE.scratch("test-versions") as folder,
        private_cluster(parse_settings({"version": other}), [HostFolder(HERE, folder)]) as cluster,
    ):
        assert str(cluster.facts()["version"]).startswith(f"{other}.")
        address = f"127.0.0.1:{cluster._cluster.amqp_port(0)}"
        assert accepts(address)
        pids = [node.process.pid for node in cluster.nodes if node.process is not None]
        apart = {namespaces()[pid] for pid in pids}
        assert len(apart) == len(pids) == 3
        assert namespaces()[os.getpid()] not in apart
    assert not accepts(address)
    assert eventually(lambda: apart.isdisjoint(namespaces().values()))
    assert str(roots) not in Path("/proc/self/mountinfo").read_text()
    assert {*(root.folder / "tmp").iterdir()} == before


@pytest.mark.usefixtures("roots")
def test_rabbitmq_4_speaks_amqp_1_0_itself(other: str, tmp_path: Path) -> None:
    """Every message is accounted for; RabbitMQ 3 cannot do it and is refused with the reason."""
    own = ".".join(installed_version(HERE).split(".")[:2])
    text = NATIVE.replace("VERSIONS", json.dumps([own, other]))
    outcome = sweep(parse_plan(text, Path("native.yaml")), text, tmp_path, Silent())
    speaking = [each for each in (own, other) if each >= "4"]
    refused = {reason.partition(" ")[2].partition(".")[0] for _, reason in outcome.failed}
    assert refused == ({"3"} if own < "4" else set())
    assert all("speaks AMQP 1.0 by a plugin only" in reason for _, reason in outcome.failed)
    frames = stats.complete(tables.read(tmp_path))
    messages = frames["messages"].query("sent > 0")
    assert (messages["received"] == messages["sent"]).all()
    assert sorted(messages["queues"]) == sorted(["classic", "quorum"] * len(speaking))
    expected = {"failed-run"} if refused else set()
    assert {*frames["doubts"]["kind"]} - DOUBTS_OF_A_BUSY_MACHINE == expected


def test_the_folder_of_an_archive_runs_with_the_erlang_of_the_host() -> None:
    """The package has the same folder as the archive."""
    version = installed_version(HERE)
    home = Path(f"/usr/lib/rabbitmq/lib/rabbitmq_server-{version}")
    settings = parse_settings({"home": str(home)})
    assert settings.installation(HERE).version == version
    with (
        HERE.scratch("test-versions") as folder,
        private_cluster(settings, [HostFolder(HERE, folder)], nodes=1) as cluster,
    ):
        assert cluster.facts()["version"] == version


def test_an_archive_runs_with_another_erlang_than_the_installed_one(
    roots: Path, second_root: Callable[[str], str]
) -> None:
    """The Erlang version of the settings is used, from a root."""
    erlang = second_root("erlang-nox")
    [home] = roots.glob(f"{PACKAGE}-*/usr/lib/rabbitmq/lib/rabbitmq_server-*")
    settings = parse_settings({"home": str(home), "erlang": erlang.partition(".")[0]})
    assert settings.obtainable(HERE) == home.name.rpartition("-")[2]
    assert [*settings.getting([HERE])] == []
    with (
        HERE.scratch("test-versions") as folder,
        private_cluster(settings, [HostFolder(HERE, folder)]) as cluster,
    ):
        facts = cluster.facts()
        assert facts["version"] == settings.obtainable(HERE)
        assert str(facts["runtime"]).startswith(f"Erlang {erlang.partition('.')[0]}")


@pytest.mark.parametrize(
    ("package", "text"),
    [
        pytest.param("nats-server", NATS, marks=pytest.mark.needs_nats),
        pytest.param("redis-server", ZEROMQ, marks=pytest.mark.needs_redis),
    ],
)
def test_another_broker_of_another_version_loses_nothing(
    package: str, text: str, second_root: Callable[[str], str], tmp_path: Path
) -> None:
    """Each node has that version, which the tables show."""
    version = second_root(package)
    text = text.replace("VERSION", version)
    outcome = sweep(parse_plan(text, Path("others.yaml")), text, tmp_path, Silent())
    assert outcome.failed == ()
    frames = stats.complete(tables.read(tmp_path))
    messages = frames["messages"].query("sent > 0")
    assert [*messages["received"]] == [*messages["sent"]]
    [run] = frames["runs"].to_dict("records")
    assert version in f"{run['system_version']} {run['runtime_version']}"


@pytest.mark.usefixtures("roots")
def test_clients_of_another_version_create_streams_and_use_tls(other: str, tmp_path: Path) -> None:
    """Client and server create the stream at the same time; nodes in a root read certificates."""
    text = STREAMS.replace("VERSION", other)
    outcome = sweep(parse_plan(text, Path("streams.yaml")), text, tmp_path, Silent())
    assert outcome.failed == ()
    messages = stats.complete(tables.read(tmp_path))["messages"]
    assert [*messages["sent"]] == [*messages["received"]] == [500] * 2


@pytest.mark.usefixtures("roots")
def test_khepri_is_enabled_if_the_plan_sets_it() -> None:
    """The cluster reports it; by default 4.0 uses Mnesia."""
    for store, flag in (("khepri", "true"), ("mnesia", "false")):
        settings = parse_settings({"version": "4.0", "metadata_store": store})
        with (
            HERE.scratch("test-versions") as folder,
            private_cluster(settings, [HostFolder(HERE, folder)], nodes=1) as broker,
        ):
            query = "rabbit_feature_flags:is_enabled(khepri_db)."
            assert broker._rabbitmqctl.call(broker.nodes[0].name, "eval", query).strip() == flag
