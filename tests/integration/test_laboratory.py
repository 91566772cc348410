"""The private laboratory: isolated hosts, of which nothing is left afterwards."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import yaml
from patience import eventually

from mqperf.base.errors import HostError
from mqperf_laboratory.hosts import Laboratory, laboratory

HOLD = """
import sys, time
from mqperf_laboratory.hosts import laboratory
with laboratory(2) as found:
    print(found._inside.link.pid, found.folder, found.network, flush=True)
    time.sleep(600)
"""

PIDS = "ls -d /proc/[0-9]*"


def visit(lab: Laboratory, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a host over ssh, with the connection data of the inventory."""
    variables = yaml.safe_load(lab.inventory.read_text())["all"]["vars"]
    options = ["-i", variables["ansible_ssh_private_key_file"], "-o", "BatchMode=yes"]
    options += ["-o", "ConnectTimeout=2", *shlex.split(variables["ansible_ssh_common_args"])]
    argv = ["ssh", *options, f"{variables['ansible_user']}@{lab.address(name)}", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_every_host_is_one_of_its_own(five_hosts: Laboratory) -> None:
    """Name, address, network card, processes and temporary files differ from the machine's."""
    ours = shlex.quote(str(five_hosts.folder))  # with the inventory; not on a host
    for name in five_hosts.names:
        command = f"hostname; ls /sys/class/net; ls -d {ours}"
        assert visit(five_hosts, name, command).stdout.split() == [name, "eth0", "lo"]
        # processes of earlier tests may still be ending
        assert eventually(lambda: len(visit(five_hosts, name, PIDS).stdout.split()) < 10)  # noqa: B023


def test_hosts_know_each_other_by_name(five_hosts: Laboratory) -> None:
    """They reach each other, not only the controller."""
    address = five_hosts.address("h5")
    code = "import socket; print(socket.create_connection(('h5', 22)).getpeername()[0])"
    words = shlex.join([os.path.realpath(sys.executable), "-c", code])
    assert visit(five_hosts, "h1", words).stdout.split() == [address]


def test_a_cable_is_pulled_and_plugged(five_hosts: Laboratory) -> None:
    """Only this host loses its connection."""
    five_hosts.cut("h2")
    try:
        assert visit(five_hosts, "h2", "true").returncode == 255
        assert visit(five_hosts, "h3", "true").returncode == 0
    finally:
        five_hosts.mend("h2")
    assert visit(five_hosts, "h2", "true").returncode == 0


def test_a_stranger_is_not_let_in(five_hosts: Laboratory, tmp_path: Path) -> None:
    """Only the key of the laboratory is accepted."""
    known_hosts = f"UserKnownHostsFile={five_hosts.folder / 'known_hosts'}"
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    words = ["ssh", "-F", "none", "-i", str(key), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"]
    argv = [*words, "-o", known_hosts, f"root@{five_hosts.address('h1')}", "true"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert "Permission denied (publickey)" in done.stderr


def test_nothing_is_left_when_its_owner_is_killed(five_hosts: Laboratory) -> None:
    """No process, network card or folder remains: the kernel cleans up, not mqperf."""
    assert five_hosts.names  # if one laboratory can be made, this one can, too
    owner = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True)
    with owner:
        assert owner.stdout is not None
        pid, folder, network = owner.stdout.readline().split()
        first = psutil.Process(int(pid))
        everything = [first, *first.children(recursive=True)]
        assert len(everything) > 4
        owner.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(everything, timeout=30)
    assert not alive
    card = f"mqperf{network.rpartition('.')[2]}"
    assert eventually(lambda: card not in psutil.net_if_stats() and not Path(folder).exists())


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the package to install; an invalid number of hosts is refused."""
    monkeypatch.setattr("mqperf_laboratory.hosts.namespaces._path", lambda: "/nowhere")
    with pytest.raises(HostError, match=r"needs ssh, .*: apt-get install openssh-client iproute2 "):
        laboratory(1).__enter__()
    with pytest.raises(HostError, match="1 to 200 hosts, not 0"):
        laboratory(0).__enter__()
