"""RabbitMQ in versions beside the installed one: a Debian in a folder, an archive."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from listeners import accepts
from patience import DOUBTS_OF_A_BUSY_MACHINE, eventually

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.installation import getting, installed, installed_version
from mqperf.lab.systems.rabbitmq.private import private_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings, parse_settings
from mqperf.plan.file import parse_plan
from mqperf.study import stats, tables
from mqperf_software.hosts import debian

pytestmark = [pytest.mark.needs_rabbitmq, pytest.mark.needs_debootstrap]

HERE = LocalHost()
PACKAGE = "rabbitmq-server"
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
    """The folder of roots, with one of that version: killed while it was made, and made anew."""
    suite = SUITES[other]
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(cache))
        adding = subprocess.Popen([*ADD, other], stdout=subprocess.DEVNULL)
        folder = cache / "mqperf/roots"
        assert eventually((folder / f"{PACKAGE}-{suite}.partial/debootstrap").exists)
        started = psutil.Process(adding.pid).children(recursive=True)
        adding.kill()
        adding.wait()
        assert eventually(lambda: not any(map(psutil.Process.is_running, started)))
        assert debian.roots() == []

        settings = Settings(version=other)
        assert f"getting RabbitMQ {other}" in " ".join(getting(settings, [HERE]))
        assert [*getting(settings, [HERE])] == []
        yield folder
        [root] = debian.roots()
        debian.remove(root)
        assert {path.name for path in folder.iterdir()} == {f"{PACKAGE}-{suite}.lock"}


def namespaces() -> dict[int, str]:
    """The namespace of mounts of each process."""
    seen = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            seen[int(process.name)] = str((process / "ns/mnt").readlink())
    return seen


def test_nodes_of_another_version_run_apart_and_leave_nothing(other: str, roots: Path) -> None:
    """No mount, process or listener, and no file in the root."""
    [root] = debian.roots()
    before = {*(root.folder / "tmp").iterdir()}
    with (
        HERE.scratch("test-versions") as folder,
        private_cluster(Settings(version=other), [HostFolder(HERE, folder)]) as cluster,
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
    """Every message is accounted for; RabbitMQ 3, which does not, is refused with the reason."""
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
    """The package has its folder as the archive does."""
    version = installed_version(HERE)
    home = Path(f"/usr/lib/rabbitmq/lib/rabbitmq_server-{version}")
    settings = Settings(home=home)
    assert installed(HERE, settings).version == version
    with (
        HERE.scratch("test-versions") as folder,
        private_cluster(settings, [HostFolder(HERE, folder)], nodes=1) as cluster,
    ):
        assert cluster.facts()["version"] == version


@pytest.mark.usefixtures("roots")
def test_clients_of_another_version_make_streams_together_and_speak_tls(
    other: str, tmp_path: Path
) -> None:
    """Client and server make the stream at the same time; certificates are seen by the node."""
    text = STREAMS.replace("VERSION", other)
    outcome = sweep(parse_plan(text, Path("streams.yaml")), text, tmp_path, Silent())
    assert outcome.failed == ()
    messages = stats.complete(tables.read(tmp_path))["messages"]
    assert [*messages["sent"]] == [*messages["received"]] == [500] * 2


@pytest.mark.usefixtures("roots")
def test_khepri_is_switched_on_where_a_plan_asks_for_it() -> None:
    """The cluster says so itself; unasked, 4.0 has Mnesia."""
    for store, flag in (("khepri", "true"), ("mnesia", "false")):
        settings = parse_settings({"version": "4.0", "metadata_store": store})
        with (
            HERE.scratch("test-versions") as folder,
            private_cluster(settings, [HostFolder(HERE, folder)], nodes=1) as broker,
        ):
            asked = "rabbit_feature_flags:is_enabled(khepri_db)."
            assert broker._rabbitmqctl.call(broker.nodes[0].name, "eval", asked).strip() == flag
