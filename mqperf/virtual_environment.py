"""Virtual environments that hold what a lock file names, and nothing else."""

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from mqperf.errors import HostError


def make(home: Path, lock: Path, run: Callable[[list[str]], object]) -> None:
    """Install what ``lock`` names, verified by hash, into a new environment for this Python.

    ``run`` runs a command and raises when it fails.  Everything is byte-compiled: the first use
    starts quickly, and later ones write nothing into an environment that is sealed in the cache.
    Raises ``HostError`` when the installer is missing.
    """
    uv = installer()
    run([*uv, "venv", "--quiet", "--python", sys.executable, str(home)])
    pinned = ["--require-hashes", "--compile-bytecode", "-r", str(lock)]
    run([*uv, "pip", "install", "--quiet", "--python", str(python(home)), *pinned])


def python(home: Path) -> Path:
    """The interpreter of an environment."""
    return home / "bin" / "python"


def installer() -> list[str]:
    """The command of uv: the one beside this Python, on the PATH, or its module."""
    found = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    return [found] if found else module("uv")


def module(name: str) -> list[str]:
    """The command that runs a tool of this Python, whatever lies in the current folder.

    Raises ``HostError`` when it is missing.
    """
    if importlib.util.find_spec(name) is None:
        raise HostError(
            f"{name}, with which mqperf makes environments for load generators and for Ansible, is"
            f" missing for {sys.executable}: install {name} for this Python, or mqperf with all it"
            " requires"
        )
    return [sys.executable, "-P", "-m", name]
