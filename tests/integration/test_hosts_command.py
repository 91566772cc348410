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
    """The second broker has no redis-server as long as the test lasts."""
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
    """In the order of the inventory, with its role, its clock and the tools for its role."""
    done = check(five_hosts.inventory, "zeromq")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    roles = ("broker", "broker", "broker", "client", "server")
    for number, (line, role) in enumerate(zip(lines, roles, strict=True), 1):
        assert line.startswith(f"ok       h{number} ({role}): Python 3.")
        for words in (" cores, ", " GB free, ", "clock ", " ± ", "round trip ", "atop"):
            assert words in line
        assert ("redis-server" in line) == (role == "broker")


def test_what_is_missing_is_told_with_the_command_that_gets_it(
    five_hosts: Laboratory, without_redis: str
) -> None:
    """Exit code 2; the other hosts are looked at all the same, and other systems need it not."""
    done = check(five_hosts.inventory, "zeromq")
    assert done.returncode == 2
    missing = [line for line in done.stdout.splitlines() if line.startswith("MISSING")]
    assert [line.split()[1] for line in missing] == [without_redis]
    assert "redis-server is missing: ssh " in missing[0]
    assert "apt-get install --yes --no-install-recommends redis-server && systemctl" in missing[0]
    assert len(done.stdout.splitlines()) == 5


def test_brokers_need_what_a_system_of_another_package_says(five_hosts: Laboratory) -> None:
    """Its packages and services stand in the command."""
    done = check(five_hosts.inventory, "toy", path=(TOYS, TOYS / "installed"))
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*["MISSING"] * 3, "ok", "ok"], done.stderr
    assert "toy is missing: ssh " in lines[0]
    assert "--no-install-recommends toy toy-data && systemctl disable --now toyd" in lines[0]


def test_a_host_that_cannot_be_reached_hides_no_other(
    five_hosts: Laboratory, tmp_path: Path
) -> None:
    """Its reason stands in its line."""
    text = five_hosts.inventory.read_text()
    path = tmp_path / "inventory.yaml"
    path.write_text(text.replace(five_hosts.address("h4"), "no-such-host.invalid"))
    done = check(path, "zeromq")
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "ok", "ok", "MISSING", "ok"]
    assert lines[3].startswith("MISSING  h4: its name is unknown: correct it, or")


def test_an_inventory_that_makes_no_sense_is_one_line_each(tmp_path: Path) -> None:
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
    """The command that makes one prints its inventory, and Enter ends it."""
    argv = [
        sys.executable,
        "-c",
        "from mqperf.front.cli import main; main()",
        "laboratory",
    ]
    with subprocess.Popen(
        [*argv, "--count", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as made:
        assert made.stdin is not None
        assert made.stdout is not None
        path = Path(made.stdout.readline().strip())
        if path.name:  # where none can be made, other tests say so
            assert path.exists()
            made.stdin.write("\n")
            made.stdin.close()
            assert made.wait() == 0
        assert not path.name or not path.exists()
