"""What doctor finds missing is what the first plan needs, and each remedy is named."""

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


def test_what_is_needed_are_the_systems_of_the_quickstart(root: Path) -> None:
    """The plan that the tutorial starts with decides whether this machine is ready."""
    assert {FIRST} == set(load_plan(root / "plans/quickstart.yaml").systems)


def test_other_systems_are_optional(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a machine without them they are told with their remedy, and count only when named."""
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
    """A machine that has no program but an apt, which notes what it is to do; we are its root."""
    (tmp_path / "apt-get").write_text(APT)
    (tmp_path / "apt-get").chmod(0o755)
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(fixing, "SYSTEMD", tmp_path / "none")
    return tmp_path


SHOWN = "to install what is missing: sh -c 'apt-get update && apt-get install --yes"


@pytest.mark.starts_programs
def test_what_is_missing_is_installed(bare: Path) -> None:
    """After the command was shown; then doctor looks again, and nothing is left to install."""
    done = CliRunner().invoke(app, ["doctor", "zeromq", "--fix", "--yes"])
    assert f"{SHOWN} --no-install-recommends redis-server'" in done.output.replace("\n", " ")
    assert "ok       ZeroMQ with Redis 7.0.15" in done.output
    assert (bare / "said").read_text().splitlines() == [
        "update, noninteractive",
        "install --yes --no-install-recommends redis-server, noninteractive",
    ]
    assert fixing.installation(["zeromq"]) == ""


@pytest.mark.starts_programs
def test_an_installation_that_fails_is_told(bare: Path) -> None:
    """With what apt said last, and the command."""
    (bare / "broken").touch()
    message = "not installed: E: Unable to locate package; run it yourself: sh -c 'apt-get upd"
    with pytest.raises(HostError, match=message):
        fixing.install(fixing.installation(["zeromq"]))


def test_nothing_is_installed_unasked(bare: Path) -> None:
    """Without a terminal the command is shown, and that is all."""
    done = CliRunner().invoke(app, ["doctor", "zeromq", "--fix"])
    assert SHOWN in done.output.replace("\n", " ")
    assert done.exit_code == 2
    assert not (bare / "said").exists()


def test_whoever_is_not_root_gets_a_command_with_sudo(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Services that systemd would start are ended by it; without apt nothing can be done."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(fixing, "SYSTEMD", bare)
    command = fixing.installation(["zeromq"])
    assert command.startswith("sudo sh -c 'apt-get update && ")
    assert command.endswith("redis-server && systemctl disable --now redis-server'")
    (bare / "apt-get").unlink()
    with pytest.raises(HostError, match="this machine has no apt-get: install redis-server yours"):
        fixing.installation(["zeromq"])
