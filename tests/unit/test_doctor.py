"""doctor finds what the first plan needs and this machine lacks, and names each remedy."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mqperf.base.errors import HostError
from mqperf.front.cli import app
from mqperf.lab.systems import FIRST, SYSTEMS
from mqperf.onhost.machine import facts
from mqperf.plan.file import load_plan
from mqperf_hosts.front import fixing
from mqperf_hosts.front.doctor import examine


def test_the_systems_of_the_quickstart_are_required(root: Path) -> None:
    """The plan that the tutorial starts with decides whether this machine is ready."""
    assert {FIRST} == set(load_plan(root / "plans/quickstart.yaml").systems)


def test_other_systems_are_optional(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Missing ones are listed with their remedy, and count only if they are named."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(facts, "SYSTEM_PATH", str(tmp_path))
    marks = {finding.text: finding.mark for finding in examine([], generators=False)}
    optional = [text for text, mark in marks.items() if mark == "optional"]
    assert len(optional) == len(SYSTEMS) - 1
    assert all("not installed, needed for plans with" in text for text in optional)
    assert any("zeromq: ZeroMQ: Redis" in text and "apt-get install" in text for text in optional)
    [zeromq] = [
        finding for finding in examine(["zeromq"], generators=False) if "Redis" in finding.text
    ]
    assert zeromq.mark == "MISSING"


APT = """\
#!/bin/sh
echo "$*, $DEBIAN_FRONTEND" >>"${0%/*}/said"
[ "$1" = update ] && exit 0
[ -e "${0%/*}/broken" ] && { echo "E: Unable to locate package" >&2; exit 100; }
printf '#!/bin/sh\\necho Redis server v=7.0.15 sha=0\\n' >"${0%/*}/redis-server"
/bin/chmod +x "${0%/*}/redis-server"
"""


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with no program but an apt-get that logs its arguments, used as root."""
    (tmp_path / "apt-get").write_text(APT)
    (tmp_path / "apt-get").chmod(0o755)
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(fixing, "SYSTEMD", tmp_path / "none")
    return tmp_path


SHOWN = "to install what is missing: sh -c 'apt-get update && apt-get install --yes"


@pytest.mark.starts_programs
def test_missing_programs_are_installed(bare: Path) -> None:
    """The command is shown first; then doctor looks again, and nothing is left to install."""
    done = CliRunner().invoke(app, ["doctor", "zeromq", "--fix", "--yes"])
    assert f"{SHOWN} --no-install-recommends redis-server'" in done.output.replace("\n", " ")
    assert "ok       ZeroMQ with Redis 7.0.15" in done.output
    assert (bare / "said").read_text().splitlines() == [
        "update, noninteractive",
        "install --yes --no-install-recommends redis-server, noninteractive",
    ]
    assert fixing.installation(["zeromq"]) == ""


@pytest.mark.starts_programs
def test_a_failed_installation_is_an_error(bare: Path) -> None:
    """The error has the last words of apt-get, and the command."""
    (bare / "broken").touch()
    message = "not installed: E: Unable to locate package; run it yourself: sh -c 'apt-get upd"
    with pytest.raises(HostError, match=message):
        fixing.install(fixing.installation(["zeromq"]))


def test_nothing_is_installed_unasked(bare: Path) -> None:
    """Without a terminal the command is only shown."""
    done = CliRunner().invoke(app, ["doctor", "zeromq", "--fix"])
    assert SHOWN in done.output.replace("\n", " ")
    assert done.exit_code == 2
    assert not (bare / "said").exists()


def test_without_root_the_command_has_sudo(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Services that systemd starts are disabled; without apt-get nothing can be done."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(fixing, "SYSTEMD", bare)
    command = fixing.installation(["zeromq"])
    assert command.startswith("sudo sh -c 'apt-get update && ")
    assert command.endswith("redis-server && systemctl disable --now redis-server'")
    (bare / "apt-get").unlink()
    with pytest.raises(HostError, match="this machine has no apt-get: install redis-server yours"):
        fixing.installation(["zeromq"])
