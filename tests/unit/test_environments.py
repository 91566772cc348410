"""The table of releases, and what happens when an environment cannot be made."""

import re
from pathlib import Path

import pytest

from mqperf.errors import LoadError
from mqperf.load.environments import LOCKS, RELEASES, Release, ensure, find


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


def test_a_failed_build_says_which_command_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a package index the error names the release, the command and what to look at."""
    for variable in ("UV_OFFLINE", "PIP_NO_INDEX", "UV_NO_CACHE"):
        monkeypatch.setenv(variable, "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(LoadError, match=r"'rabbitmq' \(oslo\.messaging 18\.3\.1\) could not be"):
        ensure("rabbitmq", tmp_path)
    assert not list(tmp_path.glob("simulators/*/versions.json"))
