"""Versions besides the installed one: requests in plans, and root folders of Debian releases."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.releases import is_of
from mqperf.hosts import HOSTS, Hosts, LocalHost
from mqperf.hosts.software import Root
from mqperf.lab.systems.possible import possible
from mqperf.lab.systems.rabbitmq.installation import Installation
from mqperf.lab.systems.rabbitmq.settings import Settings, parse_settings
from mqperf.lab.systems.settings import SettingsFault
from mqperf.plan import Plan
from mqperf.plan.file import parse_plan
from mqperf_software.hosts import debian
from mqperf_software.lab.rabbitmq import VersionSettings

if TYPE_CHECKING:
    from subprocess import CompletedProcess

HERE = LocalHost()
PACKAGE = "rabbitmq-server"


PLAN = """\
systems:
  rabbitmq:
    topologies: [cmsm]
    queues: [classic, mirrored]
    settings: {version: ["3.10", "4.0"]}
test_cases: [rpc-call]
load: {green_threads: [1], duration_s: 2}
"""


FILL = """\
mkdir -p "$2/var/lib/dpkg"
echo "W: wait" >"$2.log"
if [ -n "$FAILS" ]; then echo "$FAILS" >>"$2.log"; exit 1; fi
cat >"$2/var/lib/dpkg/status" <<END
Package: $3
Status: install ok installed
Maintainer: nobody
Architecture: all
Version: $GOT
Description: it
END
"""
"""Fills a folder in place of ``debian_root.sh``."""

PROGRAMS = {
    "id": "echo 0",
    "unshare": 'while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"',
    **dict.fromkeys(("debootstrap", "chroot", "apt-get"), ""),
}
"""Stubs of a machine whose user is root and may create namespaces."""


@dataclass
class Machine(LocalHost):
    """This machine with stubs before its programs; debootstrap installs what the test wants."""

    folder: Path
    version: str = "1:4.3.6-1+deb14u1"
    fails: str = ""
    programs: dict[str, str] = field(default_factory=PROGRAMS.copy)

    @override
    def run(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, timeout_s: float
    ) -> "CompletedProcess[str]":
        programs = self.folder / "bin"
        shutil.rmtree(programs, ignore_errors=True)
        programs.mkdir()
        for name, lines in self.programs.items():
            (programs / name).write_text(f"#!/bin/sh\n{lines}\n")
            (programs / name).chmod(0o755)
        ours = {"XDG_CACHE_HOME": str(self.folder), "GOT": self.version, "FAILS": self.fails}
        path = {"PATH": f"{programs}:/usr/bin:/bin"}
        return super().run(argv, env={**(env or {}), **ours, **path}, timeout_s=timeout_s)

    @override
    def copied(self, ours: Path) -> Path:
        if ours.name != "debian_root.sh":
            return ours
        (self.folder / "fill").write_text(FILL)
        return self.folder / "fill"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with an empty cache."""
    return Machine(tmp_path)


def test_a_version_is_asked_for_by_its_first_numbers() -> None:
    """``4.3`` means any 4.3.x, and not 4.30."""
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
    """The error is at the setting, with what to write instead."""
    with pytest.raises(SettingsFault) as fault:
        parse_settings(settings)  # type: ignore[arg-type]  # as a file has them
    assert words in str(fault.value)


@pytest.mark.starts_programs
def test_without_the_package_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error for a version that is not installed names the package to install."""
    there = Installation(Path("/usr/lib/rabbitmq/bin"), "3.10.8")
    monkeypatch.setattr("mqperf.lab.systems.rabbitmq.settings.package", lambda _host: there)
    assert Settings(version="3.10").obtainable(HERE) == "3.10.8"
    with pytest.raises(SystemFault, match="install it, or mqperf-software"):
        Settings(version="99.1").obtainable(HERE)


def of_versions(monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[Plan, Hosts]:
    monkeypatch.setattr(
        VersionSettings, "obtainable", lambda settings, _host: str(settings.version)
    )
    with HOSTS["local"].reached() as hosts:
        return parse_plan(text, Path("versions.yaml")), hosts


def test_a_kind_of_queue_is_refused_where_a_version_lacks_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only mirrored queues of RabbitMQ 4.0 are."""
    here = possible(*of_versions(monkeypatch, PLAN))
    refused = {
        (case.queues, str(case.settings["version"]))
        for case in here.plan.cases()
        if here.refusal(case)
    }
    assert refused == {("mirrored", "4.0")}


def test_replicated_queues_of_several_versions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """``ha`` differs between them, so that comparing it would compare different kinds."""
    plan, hosts = of_versions(monkeypatch, PLAN.replace("mirrored]", "ha]"))
    with pytest.raises(PlanError, match=r"mirrored or quorum ones.*queues: \[mirrored, quorum\]"):
        possible(plan, hosts)


@pytest.mark.starts_programs
def test_a_root_is_made_once_and_found_by_its_version(machine: Machine) -> None:
    """Its folder is named after its content; an incomplete folder is no root."""
    assert debian.find(machine, PACKAGE, "4.3") is None
    made = debian.make(machine, PACKAGE, "4.3")
    place = machine.folder / "mqperf/roots"
    assert made == Root(place / f"{PACKAGE}-4.3.6-forky")
    (place / f"{PACKAGE}-trixie.partial").mkdir()
    machine.fails = "E: it is made once"
    assert debian.make(machine, PACKAGE, "4.3.6") == made
    [root] = debian.roots(machine)
    assert (root.package, root.version, root.release) == (PACKAGE, "4.3.6", "forky")
    assert debian.size_bytes(machine, root) > 100
    debian.remove(machine, root)
    assert debian.roots(machine) == []
    assert {path.name for path in place.iterdir() if path.is_dir()} == {f"{PACKAGE}-trixie.partial"}


@pytest.mark.starts_programs
def test_a_release_that_moved_on_is_told(machine: Machine) -> None:
    """The version in Debian testing changes from day to day."""
    machine.version = "4.4.0-1"
    with pytest.raises(SystemFault, match=r"forky has rabbitmq-server 4\.4\.0 by now"):
        debian.make(machine, PACKAGE, "4.3")
    assert not [*(machine.folder / "mqperf/roots").glob("*forky*/")]


@pytest.mark.starts_programs
def test_a_failed_installation_leaves_no_root(machine: Machine) -> None:
    """The error ends with the installer's output; its leftovers are removed before a retry."""
    machine.fails = "E: no mirror"
    with pytest.raises(SystemFault, match="E: no mirror"):
        debian.make(machine, PACKAGE, "4.3")
    assert debian.roots(machine) == []
    machine.fails = ""
    debian.make(machine, PACKAGE, "4.3")
    folders = {path.name for path in (machine.folder / "mqperf/roots").glob("*/")}
    assert folders == {f"{PACKAGE}-4.3.6-forky"}


@pytest.mark.starts_programs
def test_what_forbids_a_root_is_said_before_it_is_made(machine: Machine) -> None:
    """No root user, no space, no tool or no such version: the error says what to do."""
    with pytest.raises(SystemFault, match=r"no Debian has it.*ask for 3\.10 or 4\.0 or 4\.3"):
        debian.find(machine, PACKAGE, "2.1")
    full = 'echo "Avail"; echo 1000000'
    with pytest.raises(SystemFault, match=r"has 0\.0 GB free, and a folder with it needs"):
        debian.make(replace(machine, programs={**PROGRAMS, "df": full}), PACKAGE, "4.3")
    none = 'echo "namespaces are forbidden" >&2; exit 1'
    with pytest.raises(SystemFault, match="namespaces of mounts are forbidden there"):
        debian.find(replace(machine, programs={**PROGRAMS, "unshare": none}), PACKAGE, "4.3")
    with pytest.raises(SystemFault, match="only root runs versions beside it"):
        debian.find(replace(machine, programs={**PROGRAMS, "id": "echo 1000"}), PACKAGE, "4.3")


@pytest.mark.starts_programs
def test_what_is_missing_is_told_with_what_installs_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error has the program and the command."""
    monkeypatch.setattr(debian, "NEEDED", {"no-such-program": "apt-get install it"})
    with pytest.raises(SystemFault, match=r"no-such-program, which .*: apt-get install it"):
        debian.find(machine, PACKAGE, "4.3")
