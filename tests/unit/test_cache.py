"""Entries of the cache are complete or made anew; without a cache there is an error."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mqperf.base import cache
from mqperf.base.errors import HostError, LoadError

Damage = Callable[[Path], object]


def build(home: Path) -> None:
    """Two files, a link, and one file whose content is verified."""
    (home / "deep").mkdir(parents=True)
    (home / "deep" / "one").write_text("one")
    (home / "two").write_text("two")
    (home / "exact").write_text("exact")
    (home / "link").symlink_to("two")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "cache" / "home"
    cache.make(home, lambda: build(home), read=["exact"])
    return home


def keeping_times(path: Path, text: str) -> None:
    facts = path.stat()
    path.write_text(text)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def relink(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def elsewhere(home: Path) -> None:
    home.rename(f"{home}-2")
    home.symlink_to("home-3")


DAMAGES: dict[str, Damage] = {
    "truncated": lambda home: (home / "two").write_text(""),
    "cut short": lambda home: (home / "deep" / "one").write_text("on"),
    "deleted": lambda home: (home / "deep" / "one").unlink(),
    "added": lambda home: (home / "deep" / "three").write_text("three"),
    "other time": lambda home: os.utime(home / "two", (1, 1)),
    "other bytes": lambda home: keeping_times(home / "exact", "EXACT"),
    "other link": lambda home: relink(home / "link", "exact"),
    "link to nothing": lambda home: relink(home / "link", "nothing"),
    "no folder": shutil.rmtree,
    "a link elsewhere": elsewhere,
    "empty seal": lambda home: home.with_name("home.sealed").write_text(""),
    "odd seal": lambda home: home.with_name("home.sealed").write_bytes(b"\xff\x00"),
    "no seal": lambda home: home.with_name("home.sealed").unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_made_anew(home: Path, damage: Damage) -> None:
    """Whatever was damaged, folder or seal, the entry is complete when it is used."""
    damage(home)
    assert not cache.intact(home, read=["exact"])
    cache.make(home, lambda: build(home), read=["exact"])
    assert cache.intact(home, read=["exact"])
    assert (home / "two").read_text() == "two"


def test_a_complete_entry_is_left_alone(home: Path, tmp_path: Path) -> None:
    """It is built once, and a copy that keeps modification times is as good."""
    copy = tmp_path / "copy" / "home"
    shutil.copytree(home.parent, copy.parent, symlinks=True)
    for place in (home, copy):
        cache.make(place, lambda: pytest.fail("built twice"), read=["exact"])


def test_a_failed_build_leaves_no_intact_entry(tmp_path: Path) -> None:
    """The next command builds it again."""

    def half() -> None:
        build(tmp_path / "home")
        raise LoadError("no network")

    with pytest.raises(LoadError, match="no network"):
        cache.make(tmp_path / "home", half)
    assert not cache.intact(tmp_path / "home")


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The error has the path, the reason, and what to do."""
    (tmp_path / "file").write_text("")
    home = tmp_path / "file" / "cache" / "home"
    with pytest.raises(HostError, match=r"file/cache: cannot be made .*: Not a directory; .*XDG_C"):
        cache.make(home, lambda: build(home))


@pytest.mark.starts_programs
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without a home")
def test_without_a_home_there_is_no_place() -> None:
    """The cache is never put into the current folder."""
    program = "from mqperf.base import cache; print(cache.place())"
    argv = ["setpriv", "--reuid=54321", "--clear-groups", sys.executable, "-c", program]
    path = {"PATH": os.defpath}
    done = subprocess.run(argv, env=path, capture_output=True, text=True, check=False)
    assert "HostError: no place for the cache" in done.stderr
    assert "set HOME or XDG_CACHE_HOME to an absolute path" in done.stderr
