"""What a developer types after ./noxw -s is understood, or refused with what there is."""

import subprocess
import sys
from pathlib import Path

import pytest

# the environment that runs the tests stands for the one that a session makes
OWN_ENVIRONMENT = f"""
VENV = Path({sys.prefix!r})
environment = str
"""

CHECKED_BEFORE = """
lint = types = docs = collected = str
"""
COMPLETE = """
def pytest_addoption(parser):
    parser.addoption("--complete", action="store_true")
"""
CUT_OFF = """
def pytest_sessionfinish(session):
    session.exitstatus = 2
"""
IN_HASTE = """
from pathlib import Path

def test_that_passes():
    pass

def test_that_fails_at_first():
    tried = Path(__file__).with_name("tried")
    before = tried.exists()
    tried.touch()
    assert before
"""
ALWAYS = """
def test_that_always_fails():
    assert not "ever"
"""


def session(folder: Path, root: Path, more: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A session of the real noxfile, which ends with more, in this folder."""
    text = (root / "noxfile.py").read_text(encoding="utf-8")
    (folder / "noxfile.py").write_text(text + OWN_ENVIRONMENT + more, encoding="utf-8")
    argv = [sys.executable, "-m", "nox", "-s", *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


def every_test(
    folder: Path, root: Path, *files: str, conftest: str = COMPLETE
) -> subprocess.CompletedProcess[str]:
    """The session that runs all tests, in a checkout with these."""
    (folder / "tests").mkdir()
    (folder / "tests/conftest.py").write_text(conftest, encoding="utf-8")
    for number, file in enumerate(files):
        (folder / f"tests/test_{number}.py").write_text(file, encoding="utf-8")
    return session(folder, root, CHECKED_BEFORE, "tests")


def test_who_fails_beside_others_gets_a_second_try_alone(tmp_path: Path, root: Path) -> None:
    """Both tries are told, and only what failed is tried again."""
    done = every_test(tmp_path, root, IN_HASTE)
    assert done.returncode == 0, done.stdout
    assert "FAILED tests/test_0.py::test_that_fails_at_first" in done.stdout
    assert "= 1 passed in" in done.stdout
    assert "what failed runs once more" in done.stderr


def test_who_fails_again_fails_the_tests(tmp_path: Path, root: Path) -> None:
    """A second try is no pardon: with one that never passes, nothing has passed."""
    done = every_test(tmp_path, root, IN_HASTE, ALWAYS)
    assert done.returncode != 0
    assert done.stdout.count("FAILED tests/test_1.py::test_that_always_fails") == 2


def test_what_cannot_be_read_fails_the_tests(tmp_path: Path, root: Path) -> None:
    """A file of tests with a mistake has no second try in which nothing runs and all is well."""
    assert every_test(tmp_path, root, IN_HASTE, "import nowhere_at_all").returncode != 0


def test_who_was_not_run_is_not_passed(tmp_path: Path, root: Path) -> None:
    """A run that was cut off gets no second try, which would be one of a few tests."""
    done = every_test(tmp_path, root, IN_HASTE, conftest=COMPLETE + CUT_OFF)
    assert done.returncode != 0
    assert done.stdout.count("test session starts") == 1


def benchmarks(folder: Path, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The session of benchmarks in a checkout with two, which name themselves."""
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
    """Nothing runs all of them; a name or a path one, with the words that follow it."""
    done = benchmarks(tmp_path, root, *words)
    assert done.stdout.splitlines() == printed, done.stderr


def test_an_unknown_benchmark_lists_the_known_ones(tmp_path: Path, root: Path) -> None:
    """A misspelt name starts nothing and says what there is."""
    done = benchmarks(tmp_path, root, "reeding")
    assert done.returncode != 0
    assert "no benchmark 'reeding'; there are: reading, sweep" in done.stderr
    assert not done.stdout
