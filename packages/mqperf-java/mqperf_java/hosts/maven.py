"""The user's Maven, which fetches files from its repository."""

import shutil
from collections.abc import Sequence

from mqperf.base import processes
from mqperf.base.errors import SystemFault

INSTALL = "sudo apt-get install maven"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
LAST_LINES = 8


def maven(file: str) -> str:
    """Return the path of Maven; raises ``SystemFault`` with the command that installs it.

    ``file`` is what is to be fetched, for the message.
    """
    program = shutil.which("mvn")
    if program is None:
        raise SystemFault(f"Maven, which fetches {file}, is not installed: {INSTALL}")
    return program


def run(goal: str, options: Sequence[str], artifact: str, file: str) -> None:
    """Run a goal of Maven's dependency plugin.

    Raises ``SystemFault`` if Maven is missing, with ``file`` in the message, or if it fails, with
    ``artifact``.
    """
    argv = [maven(file), "--batch-mode", "--quiet", f"{PLUGIN}:{goal}", *options]
    result = processes.run(argv)
    if result.returncode != 0:
        last = "\n".join((result.stdout + result.stderr).splitlines()[-LAST_LINES:])
        raise SystemFault(
            f"Maven could not fetch {artifact}; check that its repository can be reached"
            f" (~/.m2/settings.xml) and repeat the command. Its last output:\n{last}"
        )
