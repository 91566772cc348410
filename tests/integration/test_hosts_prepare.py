"""``mqperf hosts prepare``: Ansible on the hosts of a private laboratory, without changing them."""

import re
import subprocess
import sys
from pathlib import Path

from mqperf_laboratory.hosts import Laboratory


def dry_run(inventory: Path) -> subprocess.CompletedProcess[str]:
    """Run with --dry-run, since the hosts share the installed programs of this machine."""
    argv = [sys.executable, "-c", "from mqperf.front.cli import main; main()", "hosts", "prepare"]
    words = [str(inventory), "zeromq", "--dry-run"]
    return subprocess.run([*argv, *words], capture_output=True, text=True, check=False)


def missing(packages: set[str]) -> set[str]:
    """The packages that are not installed here."""
    query = ["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n", *packages]
    output = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    states = dict(line.split() for line in output.splitlines() if " " in line)
    return {package for package in packages if states.get(package) != "installed"}


def test_every_host_has_a_line_of_what_it_gets(five_hosts: Laboratory, tmp_path: Path) -> None:
    """Packages depend on the role; an unreachable host has its reason and hides no other."""
    text = five_hosts.inventory.read_text()
    path = tmp_path / "inventory.yaml"
    path.write_text(text.replace(five_hosts.address("h4"), "no-such-host.invalid"))
    done = dry_run(path)
    assert done.returncode == 2, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "ok", "ok", "FAILED", "ok"]
    # ssh ends at once: Ansible reports either its message or that it accepts no more input
    assert re.search("Could not resolve hostname|be sent to remote host 'no-such", lines[3])
    for line, packages in (
        (lines[0], {"redis-server", "atop", "openssl"}),
        (lines[4], {"atop", "openssl"}),
    ):
        lacking = missing(packages)
        assert all(package in line for package in lacking)
        assert ("everything was installed already" in line) == (not lacking)
