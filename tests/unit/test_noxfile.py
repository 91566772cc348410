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


def benchmarks(folder: Path, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The session of the real noxfile in a checkout with two benchmarks, which name themselves."""
    text = (root / "noxfile.py").read_text(encoding="utf-8")
    (folder / "noxfile.py").write_text(text + OWN_ENVIRONMENT, encoding="utf-8")
    (folder / "benchmarks").mkdir()
    for name in ("reading", "sweep"):
        script = f"import sys; print({name!r}, *sys.argv[1:])"
        (folder / "benchmarks" / f"{name}.py").write_text(script, encoding="utf-8")
    argv = [sys.executable, "-m", "nox", "-s", "benchmarks"]
    return subprocess.run(
        [*argv, "--", *words], cwd=folder, capture_output=True, text=True, check=False
    )


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
