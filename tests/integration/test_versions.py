"""RabbitMQ in versions beside the installed one: a Debian in a folder, an archive."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from listeners import accepts
from patience import eventually

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems.rabbitmq.installation import getting, installed, installed_version
from mqperf.lab.systems.rabbitmq.private import private_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf_software.hosts import debian

pytestmark = [pytest.mark.needs_rabbitmq, pytest.mark.needs_debootstrap]

HERE = LocalHost()
PACKAGE = "rabbitmq-server"
ADD = [sys.executable, "-m", "mqperf", "software", "add", PACKAGE, "4.0"]


def namespaces() -> dict[int, str]:
    """The namespace of mounts of each process."""
    seen = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            seen[int(process.name)] = str((process / "ns/mnt").readlink())
    return seen


def test_a_version_beside_the_installed_one_is_made_and_runs(own_cache: Path) -> None:
    """Killed while it is made, it is made anew; its nodes leave no mount, process or listener."""
    adding = subprocess.Popen(ADD, stdout=subprocess.DEVNULL)
    partial = own_cache / f"roots/{PACKAGE}-trixie.partial"
    assert eventually((partial / "debootstrap").exists)
    started = psutil.Process(adding.pid).children(recursive=True)
    adding.kill()
    adding.wait()
    assert eventually(lambda: not any(map(psutil.Process.is_running, started)), 30)
    assert debian.roots() == []

    settings = Settings(version="4.0")
    assert "getting RabbitMQ 4.0" in " ".join(getting(settings, [HERE]))
    assert [*getting(settings, [HERE])] == []
    with (
        HERE.scratch("test-versions") as folder,
        private_cluster(settings, [HostFolder(HERE, folder)]) as cluster,
    ):
        assert str(cluster.facts()["version"]).startswith("4.0.")
        address = f"127.0.0.1:{cluster._cluster.amqp_port(0)}"
        assert accepts(address)
        pids = [node.process.pid for node in cluster.nodes if node.process is not None]
        apart = {namespaces()[pid] for pid in pids}
        assert len(apart) == len(pids) == 3
        assert namespaces()[os.getpid()] not in apart
    assert not accepts(address)
    assert eventually(lambda: apart.isdisjoint(namespaces().values()), 30)
    assert str(own_cache) not in Path("/proc/self/mountinfo").read_text()
    [root] = debian.roots()
    assert not [*(root.folder / "tmp").iterdir()]
    debian.remove(root)
    assert {path.name for path in root.folder.parent.iterdir()} == {f"{PACKAGE}-trixie.lock"}


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
