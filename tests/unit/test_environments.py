"""The table of releases, and what happens when an environment cannot be made."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from mqperf.base import cache
from mqperf.base.errors import InstallError, LoadError
from mqperf.hosts import LocalHost
from mqperf.hosts.software.packages import digest
from mqperf.lab.load.oslo.releases import RELEASES, Release, find
from mqperf.lab.load.simulator.environments import TOOLS, ensure

HOST = LocalHost()
INFO = "oslo_messaging-18.3.1.dist-info/METADATA"


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.name)
def test_every_release_is_pinned_by_hash(release: Release) -> None:
    """The lock names the very release, and every requirement in it has a hash."""
    lock = release.lock.read_text()
    requirements = re.split(r"(?<!\\)\n", lock.strip())
    assert f"oslo-messaging=={release.version} " in lock
    assert all("--hash=sha256:" in requirement for requirement in requirements)
    assert re.fullmatch("[0-9a-f]{64}", release.sdist_sha256)


def test_names_are_those_of_the_releases() -> None:
    """The table is looked up by the name that each release has."""
    assert all(name == release.name for name, release in RELEASES.items())


def test_an_unknown_release_lists_the_known_ones() -> None:
    """The error has the names of all releases."""
    with pytest.raises(LoadError, match="No simulator release 'absent'; there are: rabbitmq"):
        find("absent")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package index: whatever is built fails."""
    for variable in ("UV_OFFLINE", "PIP_NO_INDEX", "UV_NO_CACHE"):
        monkeypatch.setenv(variable, "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


@pytest.fixture
def made(own_cache: Path) -> Path:
    """A small environment, sealed where `ensure` looks: packages ``p``, tools ``t``."""
    release = RELEASES["rabbitmq"]
    lock = release.lock
    packages = own_cache / "packages" / f"{lock.stem}-{digest(lock)}"
    tools = own_cache / "generators" / f"simulator-{release.sdist_sha256[:12]}"
    written = {"driver.py": "driver.py", INFO: "Name: oslo.messaging\nVersion: 18.3.1\n"}
    cache.make(packages, lambda: write(packages, written))
    cache.make(tools, lambda: write(tools, {name: name for name in TOOLS}), read=TOOLS)
    (own_cache / "p").symlink_to(packages)
    (own_cache / "t").symlink_to(tools)
    return own_cache


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


@pytest.mark.starts_programs
@pytest.mark.usefixtures("offline")
def test_a_failed_build_says_which_command_failed(own_cache: Path) -> None:
    """Without a package index the error names the release, the command and what to look at."""
    with pytest.raises(InstallError, match=r"'rabbitmq' \(oslo\.messaging 18\.3\.1\) could not be"):
        ensure("rabbitmq", HOST)
    assert not list(own_cache.rglob("*.sealed"))


@pytest.mark.usefixtures("offline")
def test_a_sound_environment_is_used_as_it_is(made: Path) -> None:
    """It needs no network, and its versions hold the hash of the simulator as it is now."""
    versions = ensure("rabbitmq", HOST).versions
    digest = hashlib.sha256((made / "t" / "simulator.py").read_bytes()).hexdigest()
    assert versions["oslo.messaging"] == "18.3.1"
    assert versions["simulator_sha256"] == digest


@pytest.mark.starts_programs
@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("content", ["", "Name: oslo.mess", "simulator.pY"])
@pytest.mark.parametrize("name", [f"p/{INFO}", "t/simulator.py", "p/driver.py"])
def test_a_damaged_environment_is_made_anew(made: Path, name: str, content: str) -> None:
    """Empty, cut short or changed: it is never used, and here fails to be made without network."""
    (made / name).write_text(content)
    with pytest.raises(InstallError, match="check that the package index can be reached"):
        ensure("rabbitmq", HOST)


def test_a_simulator_changed_in_mid_sweep_is_not_measured(made: Path) -> None:
    """The simulator is verified before each run, so that what is recorded is what ran."""
    environment = ensure("rabbitmq", HOST)
    environment.check()
    (made / "t" / "simulator.py").write_text("another")
    with pytest.raises(LoadError, match=r"simulator\.py or messages_length\.yaml was changed"):
        environment.check()
    (made / "t" / "simulator.py").unlink()
    with pytest.raises(LoadError, match="was changed"):
        environment.check()
