"""The user's Maven, which fetches files from its repository."""

import shutil
from collections.abc import Sequence

from mqperf.base import processes
from mqperf.base.errors import SystemFault

INSTALL = "sudo apt-get install maven"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
LAST_LINES = 8


def maven(wanted: str) -> str:
    """The program; raises ``SystemFault`` with the command that installs it.

    ``wanted`` is what is to be fetched.
    """
    program = shutil.which("mvn")
    if program is None:
        raise SystemFault(f"Maven, which fetches {wanted}, is not installed: {INSTALL}")
    return program


def run(goal: str, options: Sequence[str], wanted: str, file: str) -> None:
    """Have Maven's plugin for dependencies do something.

    Raises ``SystemFault`` when Maven, which is to fetch ``file``, is missing, or fails with what is
    ``wanted``.
    """
    argv = [maven(file), "--batch-mode", "--quiet", f"{PLUGIN}:{goal}", *options]
    done = processes.run(argv)
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-LAST_LINES:])
        raise SystemFault(
            f"Maven could not fetch {wanted}; check that its repository can be reached"
            f" (~/.m2/settings.xml) and repeat the command. Its last words:\n{last}"
        )
