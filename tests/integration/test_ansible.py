"""The real Ansible in its pinned environment; making it the first time needs a package index."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mqperf.base import cache
from mqperf.base.errors import HostError, MqperfError
from mqperf.hosts import ansible, inventory
from mqperf_hosts.front.host_check import examine
from mqperf_routers.front.reading import read
from mqperf_routers.front.writing import write

INI = """\
[all:vars]
ansible_user=measurer

[zeta]
z1 ansible_host=192.0.2.20
z0 ansible_host=192.0.2.21

[mq]
mq[1:3]

[mq:vars]
ansible_port=2222

[broker:children]
zeta
mq

[client]
load[a:b].invalid ansible_user=own
a ansible_host=192.0.2.31 ansible_ssh_common_args="-o ProxyJump=gate"

[server]
sink ansible_host=192.0.2.50 ansible_private_key_file=keys/s1
a
"""
YAML = """\
all:
  vars: {ansible_user: measurer}
broker:
  children:
    zeta: {hosts: {z1: {ansible_host: 192.0.2.20}, z0: {ansible_host: 192.0.2.21}}}
    mq: {hosts: {mq1: , mq2: , mq3: }, vars: {ansible_port: 2222}}
client:
  hosts:
    loada.invalid: {ansible_user: own}
    loadb.invalid: {ansible_user: own}
    a: {ansible_host: 192.0.2.31, ansible_ssh_common_args: -o ProxyJump=gate}
server:
  hosts: {sink: {ansible_host: 192.0.2.50, ansible_private_key_file: keys/s1}, a: }
"""


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of Ansible's commands; none of them is on the PATH."""
    try:
        folder = ansible.ensure()
    except MqperfError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("PATH", str(tmp_path))
    return folder


def test_using_ansible_leaves_its_environment_intact(programs: Path) -> None:
    """The environment is made once, not for each use."""
    assert ansible.run("ansible-inventory", ["--version"], 60).stdout.startswith("ansible-inv")
    assert cache.intact(programs.parent)


@pytest.mark.usefixtures("programs")
def test_an_ini_file_is_read_like_the_same_inventory_in_yaml(tmp_path: Path) -> None:
    """Hosts keep the order of the file; ranges are expanded and variables inherited."""
    for name, text in (("hosts.ini", INI), ("hosts.yaml", YAML)):
        (tmp_path / name).write_text(text)
    ini, plain = (inventory.read(tmp_path / name) for name in ("hosts.ini", "hosts.yaml"))
    assert [place.name for place in ini.broker] == ["z1", "z0", "mq1", "mq2", "mq3"]
    assert replace(ini, source=plain.source, reader=None) == plain
    assert "own Ansible" in str(ini.reader)


@pytest.mark.usefixtures("programs")
def test_an_unreadable_inventory_is_reported(tmp_path: Path) -> None:
    """The error is Ansible's own message, not that groups are missing."""
    path = tmp_path / "hosts.ini"
    path.write_text("[broker\nb1\n")
    with pytest.raises(
        HostError, match=r"hosts\.ini: ansible-inventory cannot read it as .*parse inv"
    ):
        inventory.read(path)


@pytest.mark.usefixtures("programs")
def test_an_inventory_that_a_plan_names_runs_no_program(tmp_path: Path) -> None:
    """Inventories in a plan may be INI or TOML; only a command accepts the output of a program."""
    (tmp_path / "hosts.ini").write_text("[broker]\nb1\n[client]\nc1\n[server]\ns1\n")
    (tmp_path / "hosts.toml").write_text("".join(f"[{g}.hosts.{g[0]}1]\n" for g in inventory.ROLES))
    program = tmp_path / "program"
    listed: dict[str, object] = {"_meta": {"hostvars": {}}} | {
        g: {"hosts": [f"{g[0]}1"]} for g in inventory.ROLES
    }
    program.write_text(f"#!/bin/sh\n: > {tmp_path}/ran\necho '{json.dumps(listed)}'\n")
    program.chmod(0o700)
    for name in ("hosts.ini", "hosts.toml"):
        assert [place.name for place in inventory.read(tmp_path / name).places] == [
            "b1",
            "c1",
            "s1",
        ]
    with pytest.raises(HostError, match="cannot read it as YAML, INI or TOML; give any other inv"):
        inventory.read(program)
    assert not (tmp_path / "ran").exists()
    assert len(inventory.read(program, programs=True).places) == 3
    assert (tmp_path / "ran").exists()


@pytest.mark.usefixtures("programs")
def test_the_check_of_hosts_says_which_ansible_it_used(tmp_path: Path) -> None:
    """The first finding, before those of the hosts, names the Ansible that read the inventory."""
    path = tmp_path / "hosts.ini"
    path.write_text(INI)
    first = next(iter(examine(path, [])))
    assert first.text == f"{path}: read by mqperf's own Ansible, since there is none on the PATH"


@pytest.mark.needs_router
def test_the_playbook_of_a_network_writes_its_configurations(tmp_path: Path) -> None:
    """Every host gets its own configuration; running the playbook again changes nothing."""
    try:
        ansible.ensure()
    except MqperfError as error:
        pytest.skip(str(error))
    hosts = tmp_path / "hosts.yaml"
    python = f"ansible_python_interpreter: {sys.executable}"
    local = f"{{ansible_connection: local, ansible_host: 127.0.0.1, {python}}}"
    hosts.write_text(f"routers: {{hosts: {{r1: {local}, r2: {local}}}}}\n")
    file = tmp_path / "network.yaml"
    file.write_text("form: line\ninventory: hosts.yaml\n")
    out, there = tmp_path / "network", tmp_path / "there"
    assert len([*write(read(file), out)]) == 5
    words = ["-i", str(hosts), str(out / "playbook.yaml"), "-e", f"folder={there} services=no"]
    for changed in ("changed=2", "changed=0"):
        done = ansible.run("ansible-playbook", words, 120)
        assert done.returncode == 0, done.stdout
        assert changed in done.stdout
    for name in ("r1.conf", "r2.conf"):
        assert (there / name).read_text() == (out / "routers" / name).read_text()
