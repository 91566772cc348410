"""A full disk: one sentence each, no traceback, and nothing measured is lost.

A small tmpfs in a mount namespace of its own is the disk, which only root may make.
"""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.starts_programs

UNSHARE = ["unshare", "--mount", "sh", "-c"]
MOUNT = 'mount -t tmpfs -o size=64k none "$1" && shift && exec "$@"'
HEAD = """
    import os, sys
    from pathlib import Path
    from types import SimpleNamespace
    from mqperf.base import processes
    from mqperf.base.errors import MqperfError
    disk = Path(sys.argv[1])
    os.environ["TMPDIR"] = str(disk)
    def fill():
        try:
            with (disk / "large").open("wb", 0) as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            pass
"""


@pytest.fixture
def on_a_small_disk(tmp_path: Path, pytestconfig: pytest.Config) -> Callable[[str], str]:
    """A function that runs a program with a disk of 64 kB and returns its output."""
    disk = tmp_path / "disk"
    disk.mkdir()
    begin = [*UNSHARE, MOUNT, "sh", str(disk)]
    tried = subprocess.run([*begin, "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        reason = f"no file system may be mounted here: {tried.stderr.strip()}"
        if pytestconfig.getoption("--complete"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)

    def run(program: str) -> str:
        text = textwrap.dedent(HEAD) + textwrap.dedent(program)
        argv = [*begin, sys.executable, "-W", "error", "-c", text, str(disk)]
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout.replace(str(disk), "DISK")

    return run


def test_a_server_that_cannot_log_fails_at_once(on_a_small_disk: Callable[[str], str]) -> None:
    """The error does not wait for the start timeout, and names the full disk."""
    output = on_a_small_disk("""
        from mqperf.hosts import LocalHost, HostFolder
        from mqperf.lab.systems.private import Servers
        from mqperf.lab.systems.service import Server
        argv = ("sh", "-c", "exec sleep 60")
        host_folder = HostFolder(LocalHost(), disk / "one")
        one = Server("one", "n", host_folder, argv, {"PATH": os.defpath}, ("ready",), ())
        servers = Servers("Example")
        (disk / "one").mkdir()
        Server.write = lambda *_: fill()
        try:
            servers.start([one], 3600)
        except MqperfError as error:
            print(error)
        servers.stop()
    """)
    assert output == (
        "DISK/one: No space left on device; make room there, or set TMPDIR to another folder\n"
    )


def test_evidence_without_room_is_an_error(on_a_small_disk: Callable[[str], str]) -> None:
    """The error names the full folder, and says what to do."""
    output = on_a_small_disk("""
        from mqperf.hosts import LocalHost, HostFolder
        from mqperf.lab.systems.private import Servers
        from mqperf.lab.systems.service import Server
        place = Path(sys.argv[1]).parent / "elsewhere"
        argv = ("sh", "-c", "echo ready; exec sleep 60")
        files = {"conf": "x" * 9999}
        host_folder = HostFolder(LocalHost(), place)
        one = Server("one", "n", host_folder, argv, {"PATH": os.defpath}, ("ready",), (), files)
        servers = Servers("Example")
        servers.start([one], 60)
        fill()
        try:
            servers.collect(disk)
        except MqperfError as error:
            print(error)
        servers.stop()
    """)
    assert output.startswith("DISK: cannot write the record: No space left on device; free space")


def test_a_control_folder_without_room_is_an_error(on_a_small_disk: Callable[[str], str]) -> None:
    """Neither the start nor the configuration of a load generator can be written."""
    output = on_a_small_disk("""
        from mqperf.hosts import LocalHost
        from mqperf.lab.runner.control import ControlFolders, Station
        fill()
        host = LocalHost()
        station = Station(host, disk)
        for what in (lambda: station.place({"client.conf": "b" * 5000}),
                     lambda: ControlFolders([station]).start(1, {host.name: host.clock()})):
            try:
                what()
            except MqperfError as error:
                print(error)
    """)
    assert output.splitlines() == [
        f"DISK/{name}: cannot write it: No space left on device;"
        " make room there, or set TMPDIR to another folder"
        for name in ("client.conf", "start")
    ]


def test_an_attempt_that_cannot_be_written_leaves_nothing_partial(
    on_a_small_disk: Callable[[str], str],
) -> None:
    """The reason is reported, and the folder is at least renamed."""
    output = on_a_small_disk("""
        from mqperf.hosts import Hosts, LocalHost
        from mqperf.plan import Case
        from mqperf.record import Attempt, runs
        from mqperf.lab.runner.trial import Audience, Trial
        case = Case(system="rabbitmq", topology="cmsm", queues="classic", test_case="rpc-call",
                    green_threads=1, duration_s=1)
        bench = SimpleNamespace(
            hosts=Hosts.alone(LocalHost()),
            deployment=SimpleNamespace(nodes=(), collect=lambda folder: None, facts=dict),
            versions=lambda name: {},
            tools={'simulator': {'local': None}}, probes=(), facts={'system': {}}, files={})
        trial = Trial(case, 1, disk, bench, Audience(print))
        fill()
        print(trial.fail("for a reason " * 2000).status)
        try:
            Trial(case, 1, disk, bench, Audience(print))
        except MqperfError as error:
            print(error)
        print([run.status for run in runs(disk)])
    """)
    assert output.splitlines()[0] == "failed"
    assert "cannot write the record: No space left on device" in output
    assert output.splitlines()[-1] == "['failed']"
