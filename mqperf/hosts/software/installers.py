"""The tools that install Python packages: uv, and pip for what only pip can."""

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
"""By then the slowest index has given all, or gives nothing."""

TRUST = {"UV_SYSTEM_CERTS": "1"}
"""uv trusts whom the machine trusts, as pip does: the proxy of a company, say."""


def uv() -> list[str]:
    """The command that runs uv: beside our Python, or on the PATH; ``InstallError`` if none."""
    program = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    return [program] if program else module("uv")


def module(name: str) -> list[str]:
    """The command that runs a tool of this Python, whatever lies in the current folder."""
    if importlib.util.find_spec(name) is None:
        raise InstallError(
            f"{name}, with which mqperf installs load generators and Ansible, is missing for"
            f" {sys.executable}: install {name} for this Python, or mqperf with all it requires"
        )
    return [sys.executable, "-P", "-m", name]


def output(
    product: str, argv: Sequence[str], *, env: Mapping[str, str] | None = None, needs: str = ""
) -> str:
    """What an installer says, which must succeed; raises ``InstallError`` with its last words.

    ``product`` is being made, ``env`` are variables besides our own, and ``needs`` says what must
    be there for it.
    """
    done = processes.run(argv, env={**TRUST, **os.environ, **(env or {})}, timeout_s=LIMIT_S)
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-LAST_LINES:])
        also = f", that there are {needs}" if needs else ""
        raise InstallError(
            f"{product} could not be made: `{shlex.join(argv)}` ended with code {done.returncode};"
            f" check that the package index can be reached{also}, and that Python"
            f" {platform.python_version()} can install packages, then try again. Its last words:\n"
            f"{without_passwords(last)}"
        )
    return done.stdout
