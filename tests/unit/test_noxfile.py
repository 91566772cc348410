"""Sessions of ./noxw -s accept valid arguments, and list the choices for invalid ones."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mqperf.hosts import HOSTS

pytestmark = pytest.mark.starts_programs

# replaces the environment that a session would create
OWN_ENVIRONMENT = f"""
VENV = Path({sys.prefix!r})
environment = str
"""

CHECKED_BEFORE = """
lint = types = docs = collected = str
CORES = WAITING = 1
"""
OPTIONS = """
def pytest_addoption(parser):
    parser.addoption("--complete", action="store_true")
    parser.addoption("--day")
"""
SOME = """
import pytest

from mqperf.hosts import HOSTS

def test_that_passes():
    pass

@pytest.mark.starts_programs
def test_that_starts_one():
    pass
"""
FAILING = """
from pathlib import Path

def test_that_fails_at_first():
    tried = Path(__file__).with_name("tried")
    before = tried.exists()
    tried.touch()
    assert before
"""
MARKS = """
[pytest]
markers = starts_programs
"""


def session(folder: Path, root: Path, more: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A session of the real noxfile plus this code, in this folder."""
    text = (root / "noxfile.py").read_text(encoding="utf-8")
    (folder / "noxfile.py").write_text(text + OWN_ENVIRONMENT + more, encoding="utf-8")
    argv = [sys.executable, "-m", "nox", "-s", *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


def every_test(
    folder: Path, root: Path, *files: str, name: str = "tests"
) -> subprocess.CompletedProcess[str]:
    """A session that runs tests, in a checkout with these files of tests."""
    (folder / "tests/unit").mkdir(parents=True)
    (folder / "pytest.ini").write_text(MARKS, encoding="utf-8")
    (folder / "tests/conftest.py").write_text(OPTIONS, encoding="utf-8")
    for number, file in enumerate(files):
        (folder / f"tests/unit/test_{number}.py").write_text(file, encoding="utf-8")
    return session(folder, root, CHECKED_BEFORE, name)


def test_no_test_is_tried_twice(tmp_path: Path, root: Path) -> None:
    """A failed test is not repeated, as flaky tests must show."""
    done = every_test(tmp_path, root, SOME, FAILING)
    assert done.returncode != 0
    assert done.stdout.count("test session starts") == 1
    assert "1 failed, 2 passed" in done.stdout


def test_what_cannot_be_read_fails_the_tests(tmp_path: Path, root: Path) -> None:
    """A file of tests with an import error fails the session."""
    done = every_test(tmp_path, root, SOME, "import nowhere_at_all")
    assert (done.returncode != 0, "ModuleNotFoundError" in done.stdout) == (True, True), done.stdout


def test_the_quick_ones_start_no_program(tmp_path: Path, root: Path) -> None:
    """Tests that start programs are not run; failures fail the session."""
    done = every_test(tmp_path / "one", root, SOME, name="quick")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
    assert every_test(tmp_path / "two", root, SOME, FAILING, name="quick").returncode != 0


def benchmarks(folder: Path, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The session "benchmarks" in a checkout with two scripts that print their names."""
    (folder / "benchmarks").mkdir()
    for name in ("reading", "sweep"):
        script = f"import sys; print({name!r}, *sys.argv[1:])"
        (folder / "benchmarks" / f"{name}.py").write_text(script, encoding="utf-8")
    return session(folder, root, "", "benchmarks", "--", *words)


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ((), ["reading", "sweep"]),
        (("sweep",), ["sweep"]),
        (("benchmarks/sweep.py",), ["sweep"]),
        (("reading", "100", "200"), ["reading 100 200"]),
    ],
)
def test_a_benchmark_is_named_by_name_or_path(
    tmp_path: Path, root: Path, words: tuple[str, ...], printed: list[str]
) -> None:
    """No argument runs all; a name or path runs one, with the further arguments."""
    done = benchmarks(tmp_path, root, *words)
    assert done.stdout.splitlines() == printed, done.stderr


def test_an_unknown_benchmark_lists_the_known_ones(tmp_path: Path, root: Path) -> None:
    """A misspelt name starts nothing, and the error lists the names."""
    done = benchmarks(tmp_path, root, "reeding")
    assert done.returncode != 0
    assert "no benchmark 'reeding'; there are: reading, sweep" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("kind", [name for name in HOSTS if name != "local"])
def test_noxw_installs_what_hosts_of_our_own_need(tmp_path: Path, root: Path, kind: str) -> None:
    """Plans on hosts that mqperf creates need sshd, whatever the kind."""
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"title: Somewhere\nhosts: {kind}\n", encoding="utf-8")
    text = (root / "noxw").read_text(encoding="utf-8")
    [function] = re.findall(r"^packages_for_plan\(\) \{.*?^\}", text, re.MULTILINE | re.DOTALL)
    script = f'hosts="openssh-server iproute2"\n{function}\npackages_for_plan "$1"\n'
    done = subprocess.run(
        ["sh", "-euc", script, "sh", plan], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["openssh-server", "iproute2"]
