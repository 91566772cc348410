"""The tools that install Python packages: uv, and pip where uv lacks a feature."""

import importlib.util
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import InstallError
from mqperf.base.redaction import without_passwords

LAST_LINES = 15
LIMIT_S = 3600
"""Limit of an installation, enough for the slowest package index."""

TRUST = {"UV_SYSTEM_CERTS": "1"}
"""Makes uv trust the system's certificates, as pip does: for the proxy of a company, say."""


def uv() -> list[str]:
    """Return the command of uv: beside our Python, or on the PATH; raises ``InstallError``."""
    program = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    return [program] if program else module("uv")


def module(name: str) -> list[str]:
    """Return the command of a module of this Python, ignoring the current folder."""
    if importlib.util.find_spec(name) is None:
        raise InstallError(
            f"{name}, with which mqperf installs load generators and Ansible, is missing for"
            f" {sys.executable}: install {name} for this Python, or mqperf with all it requires"
        )
    return [sys.executable, "-P", "-m", name]


def output(
    product: str, argv: Sequence[str], *, env: Mapping[str, str] | None = None, needs: str = ""
) -> str:
    """Run an installer and return its output; raises ``InstallError`` with the last lines of it.

    ``product`` names what is installed, ``env`` has variables in addition to our own, and ``needs``
    names prerequisites on this machine.
    """
    done = processes.run(argv, env={**TRUST, **os.environ, **(env or {})}, timeout_s=LIMIT_S)
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-LAST_LINES:])
        prerequisites = f", that there are {needs}" if needs else ""
        raise InstallError(
            f"{product} could not be installed: `{shlex.join(argv)}` ended with code"
            f" {done.returncode}; check that the package index can be reached{prerequisites}, and"
            f" that Python {platform.python_version()} can install packages, then try again. Its"
            f" last output:\n{without_passwords(last)}"
        )
    return done.stdout
