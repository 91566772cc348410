"""environment.yml says the same as pyproject.toml.

Names and bounds are compared; that conda-forge holds such versions is not checked here.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Other names at conda-forge, of packages without the parts that are not used here.
RENAMED = {
    "matplotlib-base": "matplotlib",
    "nbconvert-core": "nbconvert",
}


def bounds(lines: list[str]) -> dict[str, str]:
    """Versions by name, spelled as at PyPI; the bounds of conda have the syntax of PyPI here."""
    requirements = [Requirement(line) for line in lines]
    return {
        RENAMED.get(name := canonicalize_name(requirement.name), name): str(requirement.specifier)
        for requirement in requirements
    }


@pytest.fixture(scope="module")
def conda(root: Path) -> dict[str, str]:
    lines = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    *names, pip = lines
    return bounds([*names, *(line for line in pip["pip"] if not line.startswith("--"))])


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = [line for extra in project["optional-dependencies"].values() for line in extra]
    return bounds([*project["dependencies"], *extras, f"python{project['requires-python']}"])


def test_same_packages_with_same_bounds(conda: dict[str, str], project: dict[str, str]) -> None:
    """An environment made by conda holds what one made by pip holds."""
    assert conda == project


def test_locked_versions_lie_within_the_bounds(root: Path, project: dict[str, str]) -> None:
    """The locked environment is one of those that pyproject.toml allows."""
    lines = (root / "requirements/dev.txt").read_text().splitlines()
    pins = [Requirement(line.removesuffix("\\")) for line in lines if "==" in line]
    for pin in pins:
        wanted = Requirement(f"{pin.name}{project.get(canonicalize_name(pin.name), '')}")
        (version,) = (part.version for part in pin.specifier)
        assert wanted.specifier.contains(version), f"{pin} is locked, {wanted} is wanted"
    assert set(project) - {"python"} <= {canonicalize_name(pin.name) for pin in pins}


@pytest.mark.starts_programs
def test_pip_accepts_the_lines_that_conda_gives_it(root: Path, tmp_path: Path) -> None:
    """Conda writes them into a file of requirements and gives that to pip, beside environment.yml.

    Here all that they name is installed already, so that pip needs no package index.
    """
    *_, last = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    file = tmp_path / "condaenv.requirements.txt"
    file.write_text("\n".join(last["pip"]))
    argv = [sys.executable, "-m", "pip", "install", "-U", "-r", str(file), "--exists-action=b"]
    offline = ["--dry-run", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    done = subprocess.run(
        [*argv, *offline], cwd=root, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Would install mqperf-" in done.stdout
