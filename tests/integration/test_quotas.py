"""Quotas by control groups of this machine, as root: members of the groups, and their removal."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import eventually

from mqperf.hosts import HOSTS, Hosts
from mqperf_capacity.lab.quotas import Limited, applied
from mqperf_capacity.onhost import cgroups
from mqperf_capacity.plan.quotas import Quotas

BUSY = (sys.executable, "-c", "while True: pass")
LITTLE = Quotas(broker_cores=0.05, broker_memory_bytes=2**28, client_cores=0.05)
"""Less than a process gets even on a busy machine."""

KILLED = """
import time
from mqperf.hosts import HOSTS
from mqperf_capacity.lab.quotas import applied
from mqperf_capacity.plan.quotas import Quotas
from pathlib import Path
import sys
with HOSTS["local"].reached() as hosts, applied(Quotas(broker_cores=0.5), hosts) as limited:
    [broker] = limited.broker
    held = broker.start("Master", [sys.executable, "-c", "while True: pass"], log=Path(sys.argv[1]))
    print(broker.groups.cpu().folder, flush=True)
    time.sleep(3600)
"""


def missing() -> str | None:
    """The reason why quotas are unavailable here, or None."""
    try:
        cgroups.places({"cores", "memory_bytes"})
    except OSError as error:
        return str(error.strerror)
    return None


pytestmark = pytest.mark.skipif(missing() is not None, reason=f"no quotas here: {missing()}")


@pytest.fixture
def local() -> Iterator[Hosts]:
    with HOSTS["local"].reached() as hosts:
        yield hosts


def test_each_role_runs_within_its_quota(local: Hosts, tmp_path: Path) -> None:
    """Each node has its own group, all clients share one, probes have none; no group remains."""
    with applied(LITTLE, local) as limited:
        broker, client, server = limited.broker[0], limited.client[0], limited.server[0]
        assert isinstance(broker, Limited)
        started = {
            name: host.start(name, BUSY, log=tmp_path / "log")
            for name, host in (("Master", broker), ("client-1", client), ("server-1", server))
        }
        watching = limited.every[0].start("probe", BUSY, log=tmp_path / "log")
        place = broker.groups.cpu()
        assert place is not None
        group = place.folder / "broker Master"
        assert eventually((place.folder / "client/cgroup.procs").exists)
        assert eventually(lambda: group.exists() and cgroups.throttled(group)[1] > 0)
        assert cgroups.members(group) == {started["Master"].pid}
        assert eventually(lambda: cgroups.members(place.folder / "client"))
        assert cgroups.members(place.folder / "client") == {started["client-1"].pid}
        assert not (place.folder / "server").exists()
        assert cgroups.members(place.folder) == set()
        assert broker.facts()["quotas"]["broker_cores"] == 0.05
        folders = [place.folder for place in broker.groups.places]
        assert len(folders) == 2
        for process in (*started.values(), watching):
            process.stop(0)
    assert not any(folder.exists() for folder in folders)


def test_no_group_outlives_a_killed_mqperf(tmp_path: Path) -> None:
    """After SIGKILL its processes are ended, and a reaper removes the folder."""
    argv = [sys.executable, "-c", KILLED, str(tmp_path / "log")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as owner:
        try:
            assert owner.stdout is not None
            folder = Path(owner.stdout.readline().strip())
            assert eventually((folder / "broker Master").exists)
            assert eventually(lambda: cgroups.members(folder / "broker Master"))
            [pid] = cgroups.members(folder / "broker Master")
        finally:
            os.kill(owner.pid, signal.SIGKILL)
        assert eventually(lambda: not folder.exists())
        assert eventually(lambda: not Path(f"/proc/{pid}").exists())
