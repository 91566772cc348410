"""The table of releases, and what happens when an environment cannot be made."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from mqperf import cache, guarded
from mqperf.errors import LoadError
from mqperf.load.simulator import environments
from mqperf.load.simulator.environments import TOOLS, VERSIONS, ensure
from mqperf.load.simulator.releases import LOCKS, RELEASES, Release, find


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.name)
def test_every_release_is_pinned_by_hash(release: Release) -> None:
    """The lock names the very release, and every requirement in it has a hash."""
    lock = (LOCKS / release.lock).read_text()
    requirements = re.split(r"(?<!\\)\n", lock.strip())
    assert f"oslo-messaging=={release.version} " in lock
    assert all("--hash=sha256:" in requirement for requirement in requirements)
    assert re.fullmatch("[0-9a-f]{64}", release.sdist_sha256)


def test_names_are_those_of_the_releases() -> None:
    """The table is looked up by the name that each release has."""
    assert all(name == release.name for name, release in RELEASES.items())


def test_an_unknown_release_lists_the_known_ones() -> None:
    """The user sees what there is."""
    with pytest.raises(LoadError, match="No simulator release 'absent'; there are: rabbitmq"):
        find("absent")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package index: whatever is built fails."""
    for variable in ("UV_OFFLINE", "PIP_NO_INDEX", "UV_NO_CACHE"):
        monkeypatch.setenv(variable, "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """What a build leaves, in small: files of the environment, sealed where `ensure` looks."""
    home = environments._home(RELEASES["rabbitmq"], tmp_path)

    def build() -> None:
        for name in (*TOOLS, "../venv/lib/driver.py", "../venv/bin/python"):
            file = home / "tools" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
        (home / VERSIONS).write_text(json.dumps({"oslo.messaging": "18.3.1"}))

    cache.make(home, build, read=(*TOOLS, VERSIONS))
    return home


@pytest.mark.usefixtures("offline")
def test_a_failed_build_says_which_command_failed(tmp_path: Path) -> None:
    """Without a package index the error names the release, the command and what to look at."""
    with pytest.raises(LoadError, match=r"'rabbitmq' \(oslo\.messaging 18\.3\.1\) could not be"):
        ensure("rabbitmq", guarded.run, tmp_path)
    assert not list(tmp_path.rglob("*.sealed"))


@pytest.mark.usefixtures("offline")
def test_a_sound_environment_is_used_as_it_is(made: Path, tmp_path: Path) -> None:
    """It needs no network, and its versions hold the hash of the simulator as it is now."""
    versions = ensure("rabbitmq", guarded.run, tmp_path).versions
    digest = hashlib.sha256((made / "tools" / "simulator.py").read_bytes()).hexdigest()
    assert versions["oslo.messaging"] == "18.3.1"
    assert versions["simulator_sha256"] == digest


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("content", ["", '{"oslo.mess', "simulator.pY"])
@pytest.mark.parametrize("name", [VERSIONS, "tools/simulator.py", "venv/lib/driver.py"])
def test_a_damaged_environment_is_made_anew(
    made: Path, tmp_path: Path, name: str, content: str
) -> None:
    """Empty, cut short or changed: it is never used, and here fails to be made without network."""
    (made / name).write_text(content)
    with pytest.raises(LoadError, match="check that the package index can be reached"):
        ensure("rabbitmq", guarded.run, tmp_path)


def test_a_simulator_changed_in_mid_sweep_is_not_measured(made: Path, tmp_path: Path) -> None:
    """What is recorded is what ran: before each run the simulator is looked at."""
    environment = ensure("rabbitmq", guarded.run, tmp_path)
    environment.check()
    (made / "tools" / "simulator.py").write_text("another")
    with pytest.raises(LoadError, match=r"simulator\.py or messages_length\.yaml was changed"):
        environment.check()
    (made / "tools" / "simulator.py").unlink()
    with pytest.raises(LoadError, match="was changed"):
        environment.check()
