"""Versions beside the installed one: what a plan asks for, and the folders of Debian releases."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from mqperf.base import processes
from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.releases import is_of
from mqperf.hosts import HOSTS, Hosts, LocalHost
from mqperf.hosts.software import SOURCES, Root
from mqperf.lab.systems import rabbitmq
from mqperf.lab.systems.possible import possible
from mqperf.lab.systems.rabbitmq.installation import obtainable
from mqperf.lab.systems.rabbitmq.settings import Settings, parse_settings
from mqperf.lab.systems.settings import SettingsFault
from mqperf.plan import Plan
from mqperf.plan.file import parse_plan
from mqperf_software.hosts import debian

HERE = LocalHost()
PACKAGE = "rabbitmq-server"


class Usage(NamedTuple):
    """Of a disk, as shutil has it."""

    total: int
    used: int
    free: int


PLAN = """\
systems:
  rabbitmq:
    topologies: [cmsm]
    queues: [classic, mirrored]
    settings: {version: ["3.10", "4.0"]}
test_cases: [rpc-call]
load: {green_threads: [1], duration_s: 2}
"""


@dataclass
class Debootstrap:
    """What fills folders, instead of debootstrap: it is started with those arguments."""

    version: str = "1:4.3.6-1"
    fails: str = ""

    def run(self, argv: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        if argv[0] == "rm":
            shutil.rmtree(argv[-1])
        elif "sh" in argv:
            folder = Path(argv[-2])
            folder.mkdir()
            folder.with_name(f"{folder.name}.log").write_text(f"W: wait\n{self.fails}\n")
        code = 1 if self.fails and "sh" in argv else 0
        return subprocess.CompletedProcess(argv, code, self.version, "")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one, of root, who may make namespaces, on a machine with all programs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name, **_: f"/usr/bin/{name}")
    monkeypatch.setattr(processes, "run", Debootstrap().run)
    return tmp_path / "mqperf/roots"


def test_a_version_is_asked_for_by_its_first_numbers() -> None:
    """``4.3`` is any 4.3.x, and no 4.30."""
    numbers = {version: is_of(version, "4.3") for version in ("4.3.6", "4.3", "4.30.1", "3.10")}
    assert numbers == {"4.3.6": True, "4.3": True, "4.30.1": False, "3.10": False}
    assert not is_of("3.1", "3.10")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"version": 3.1}, 'write the version in quotes: "3.1"'),
        ({"version": "latest"}, "version"),
        ({"version": "4.3", "home": "/opt/rabbitmq"}, "two ways"),
        ({"home": "rabbitmq_server-4.3.6"}, "no absolute path"),
        ({"version": "4.3", "nodes": ["a"], "urls": ["amqp://u@a"]}, "beside urls"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(settings: dict[str, object], words: str) -> None:
    """At the setting, with what to write instead."""
    with pytest.raises(SettingsFault) as fault:
        parse_settings(settings)  # type: ignore[arg-type]  # as a file has them
    assert words in str(fault.value)


@pytest.mark.starts_programs
def test_without_the_package_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for a version that is not installed learns who gets it."""
    monkeypatch.setattr(SOURCES, "_values", {})
    with pytest.raises(SystemFault, match="install it, or mqperf-software"):
        obtainable(HERE, Settings(version="99.1"))


def of_versions(monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[Plan, Hosts]:
    monkeypatch.setattr(rabbitmq, "obtainable", lambda _host, settings: str(settings.version))
    with HOSTS["local"].reached() as hosts:
        return parse_plan(text, Path("versions.yaml")), hosts


def test_a_kind_of_queue_is_refused_where_a_version_lacks_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mirrored queues of RabbitMQ 4.0, and nothing else."""
    here = possible(*of_versions(monkeypatch, PLAN))
    refused = {
        (case.queues, str(case.settings["version"]))
        for case in here.plan.cases()
        if here.refusal(case)
    }
    assert refused == {("mirrored", "4.0")}


def test_replicated_queues_of_several_versions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """``ha`` is another kind in each: one name for both would compare what differs."""
    plan, hosts = of_versions(monkeypatch, PLAN.replace("mirrored]", "ha]"))
    with pytest.raises(PlanError, match=r"mirrored or quorum ones.*queues: \[mirrored, quorum\]"):
        possible(plan, hosts)


def test_a_root_is_made_once_and_found_by_its_version(cache: Path) -> None:
    """Its folder is named by what is in it."""
    assert debian.find(HERE, PACKAGE, "4.3") is None
    made = debian.make(HERE, PACKAGE, "4.3")
    assert made == Root(cache / f"{PACKAGE}-4.3.6-forky")
    (cache / f"{PACKAGE}-forky.partial").mkdir()
    [root] = debian.roots()
    assert (root.package, root.version, root.release) == (PACKAGE, "4.3.6", "forky")
    debian.remove(root)
    assert debian.roots() == []


def test_a_release_that_moved_on_is_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian testing has another version by the day it is asked."""
    monkeypatch.setattr(processes, "run", Debootstrap(version="4.4.0-1").run)
    with pytest.raises(SystemFault, match=r"forky has rabbitmq-server 4\.4\.0 by now"):
        debian.make(HERE, PACKAGE, "4.3")
    assert not [*cache.glob("*forky*/")]


def test_what_could_not_be_made_leaves_no_root(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last words of the installer say why; what it left is removed before the next try."""
    monkeypatch.setattr(processes, "run", Debootstrap(fails="E: no mirror").run)
    with pytest.raises(SystemFault, match="E: no mirror"):
        debian.make(HERE, PACKAGE, "4.3")
    assert debian.roots() == []
    monkeypatch.setattr(processes, "run", Debootstrap().run)
    debian.make(HERE, PACKAGE, "4.3")
    assert [path.name for path in cache.iterdir() if path.is_dir()] == [f"{PACKAGE}-4.3.6-forky"]


@pytest.mark.usefixtures("cache")
def test_what_forbids_a_root_is_said_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but root, no room, no tool, no such version: with what to do."""
    with pytest.raises(SystemFault, match=r"no Debian has it.*ask for 3\.10 or 4\.0 or 4\.3"):
        debian.find(HERE, PACKAGE, "2.1")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 10**6))
        with pytest.raises(SystemFault, match=r"has 0\.0 GB free, and a folder with it needs"):
            debian.make(HERE, PACKAGE, "4.3")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "which", lambda name, **_: None if name == "debootstrap" else name)
        with pytest.raises(SystemFault, match="apt-get install debootstrap"):
            debian.find(HERE, PACKAGE, "4.3")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemFault, match="run mqperf as root, or give home"):
        debian.find(HERE, PACKAGE, "4.3")
