"""The version that mqperf reports, with the commit and the state of a checkout."""

import subprocess
import sys
from pathlib import Path

import pytest

from mqperf import __version__
from mqperf.base.version import version

pytestmark = pytest.mark.starts_programs


def test_a_checkout_tells_its_commit(tmp_path: Path) -> None:
    """A changed tracked file marks it as modified; other files do not."""

    def git(*words: str) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        argv = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "--quiet")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "--quiet", "--message", "One")
    (tmp_path / "other").write_text("new")
    clean = f"{__version__}+g{git('rev-parse', '--short=12', 'HEAD')}"
    assert version(tmp_path) == clean
    (tmp_path / "file").write_text("two")
    assert version(tmp_path) == f"{clean}.modified"


def test_without_a_checkout_there_is_only_the_version(tmp_path: Path) -> None:
    """It is so in an installed package, and in a broken checkout."""
    assert version(tmp_path) == __version__
    (tmp_path / ".git").mkdir()
    assert version(tmp_path) == __version__


def test_the_package_is_a_program_too() -> None:
    """``python -m mqperf`` is the same command line, also if mqperf is not on the path."""
    argv = [sys.executable, "-m", "mqperf", "--version"]
    assert subprocess.check_output(argv, text=True) == f"mqperf {version()}\n"
