"""Optional libraries: an error says what to type if one is missing."""

import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from mqperf.base import packages
from mqperf.base.errors import InstallError
from mqperf.base.packages import EXTRAS, need
from mqperf.front.api import compare
from mqperf.pages.report.build import publish, publish_file

RUNS = "data/samples/inside/rabbitmq"


def without(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    """As if these were not installed."""
    monkeypatch.setattr(
        packages, "find_spec", lambda name: None if name in libraries else find_spec(name)
    )


def test_extras_are_those_of_the_project(root: Path) -> None:
    """Each library that is looked for belongs to the extra."""
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    for name, libraries in EXTRAS.items():
        lines = extras["optional-dependencies"][name]
        assert {*libraries} <= {line.partition(">=")[0] for line in lines}
        need(name)


@pytest.mark.starts_programs  # one that removes temporary folders
def test_pages_need_the_libraries_of_reports(
    monkeypatch: pytest.MonkeyPatch, root: Path, tmp_path: Path
) -> None:
    """Reports, reports as a file, and comparisons are refused, and leave no files."""
    without(monkeypatch, "furo")
    message = r"^furo: not installed: pip install 'mqperf\[report\]'$"
    with pytest.raises(InstallError, match=message):
        publish(root / RUNS, tmp_path / "out", notebooks=False)
    with pytest.raises(InstallError, match=message):
        publish_file(root / RUNS, tmp_path / "out.html")
    with pytest.raises(InstallError, match=message):
        compare(root / RUNS, root / RUNS).report(tmp_path / "out")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.starts_programs
def test_notebooks_need_theirs(monkeypatch: pytest.MonkeyPatch, root: Path, tmp_path: Path) -> None:
    """The error names all missing libraries."""
    without(monkeypatch, "papermill", "nbconvert")
    missing = r"^papermill, nbconvert: not installed"
    message = rf"{missing}: pip install 'mqperf\[notebook\]' or give --no-notebooks$"
    with pytest.raises(InstallError, match=message):
        publish(root / RUNS, tmp_path / "out")
