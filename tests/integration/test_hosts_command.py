"""``mqperf hosts check``: whether a plan could run on the hosts of an inventory."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mqperf.hosts import inventory
from mqperf.hosts.remote import connected
from mqperf_laboratory.hosts import Laboratory

pytestmark = pytest.mark.needs_redis


TOYS = Path(__file__).parents[1] / "toys"


def check(*words: str | Path, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", "from mqperf.front.cli import main; main()", "hosts", "check"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run([*argv, *words], capture_output=True, text=True, check=False, env=env)


@pytest.fixture
def without_redis(five_hosts: Laboratory) -> Iterator[str]:
    """The second broker host has no redis-server during the test."""
    place = inventory.read(five_hosts.inventory).broker[1]
    with connected([place]) as [host]:
        program = host.which(["redis-server"])["redis-server"]
        assert program is not None
        hide = ["sh", "-c", f"mount --bind /dev/null $(readlink -f {program})"]
        assert host.run(hide, timeout_s=30).returncode == 0
        try:
            yield place.name
        finally:
            host.run(["sh", "-c", f"umount $(readlink -f {program})"], timeout_s=30)


def test_every_host_has_a_line(five_hosts: Laboratory) -> None:
    """In the order of the inventory, with the host's role, clock and the tools for its role."""
    done = check(five_hosts.inventory, "zeromq")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    roles = ("broker", "broker", "broker", "client", "server")
    for number, (line, role) in enumerate(zip(lines, roles, strict=True), 1):
        assert line.startswith(f"ok       h{number} ({role}): Python 3.")
        for words in (" cores, ", " GB free, ", "clock ", " ± ", "round trip ", "atop"):
            assert words in line
        assert ("redis-server" in line) == (role == "broker")


def test_what_is_missing_is_reported_with_the_command_to_install_it(
    five_hosts: Laboratory, without_redis: str
) -> None:
    """The exit code is 2; the other hosts are checked too."""
    done = check(five_hosts.inventory, "zeromq")
    assert done.returncode == 2
    missing = [line for line in done.stdout.splitlines() if line.startswith("MISSING")]
    assert [line.split()[1] for line in missing] == [without_redis]
    assert "redis-server is missing: ssh " in missing[0]
    assert "apt-get install --yes --no-install-recommends redis-server && systemctl" in missing[0]
    assert len(done.stdout.splitlines()) == 5


def test_brokers_need_what_a_system_of_another_package_says(five_hosts: Laboratory) -> None:
    """The packages and services of that system are in the command."""
    done = check(five_hosts.inventory, "toy", path=(TOYS, TOYS / "installed"))
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*["MISSING"] * 3, "ok", "ok"], done.stderr
    assert "toy is missing: ssh " in lines[0]
    assert "--no-install-recommends toy toy-data && systemctl disable --now toyd" in lines[0]


def test_a_host_that_cannot_be_reached_hides_no_other(
    five_hosts: Laboratory, tmp_path: Path
) -> None:
    """Its line has the reason; the other hosts are checked."""
    text = five_hosts.inventory.read_text()
    path = tmp_path / "inventory.yaml"
    path.write_text(text.replace(five_hosts.address("h4"), "no-such-host.invalid"))
    done = check(path, "zeromq")
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "ok", "ok", "MISSING", "ok"]
    assert lines[3].startswith("MISSING  h4: its name is unknown: correct it, or")


def test_each_error_of_an_inventory_is_one_line(tmp_path: Path) -> None:
    """On stderr, with exit code 2."""
    path = tmp_path / "inventory.yaml"
    path.write_text("broker: {hosts: {b1: }}\nclient: {hosts: {c1: }}\n")
    done = check(path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"mqperf: {path}: no group 'server': add one")
    done = check(path, "no-such-system")
    assert done.returncode == 2
    assert "no-such-system" in done.stderr


def test_a_laboratory_ends_with_its_input() -> None:
    """The command prints the inventory of the laboratory; Enter ends it."""
    argv = [
        sys.executable,
        "-c",
        "from mqperf.front.cli import main; main()",
        "laboratory",
    ]
    with subprocess.Popen(
        [*argv, "--count", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        path = Path(process.stdout.readline().strip())
        if path.name:  # if none can be made, other tests report it
            assert path.exists()
            process.stdin.write("\n")
            process.stdin.close()
            assert process.wait() == 0
        assert not path.name or not path.exists()
