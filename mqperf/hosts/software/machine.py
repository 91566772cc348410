"""A host as the target of software: its Python, its platform, commands and copies."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from mqperf.onhost.machine.platforms import Platform

ALONE = ("-P", "-S", "-s", "-u", "-B", "-W", "ignore")
"""Options of the host's Python for our programs: packages installed there are ignored.

No byte code is written: it would invalidate the entry of the cache, which is then rebuilt."""


class Machine(Protocol):
    """A host on which mqperf's programs are to run."""

    @property
    def name(self) -> str:
        """Label of the host in records and messages."""
        ...

    @property
    def path(self) -> str:
        """The search path of its programs: folders, separated by colons."""
        ...

    @property
    def python(self) -> str:
        """The program of its Python."""
        ...

    @property
    def platform(self) -> Platform:
        """The platform that compiled code must be built for."""
        ...

    def run(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command to completion, and end everything that it started.

        Raises ``HostError`` when it does not finish in time.
        """
        ...

    def copied(self, ours: Path) -> Path:
        """Return the path on the host of a local file or folder, which is copied on first use.

        The copy is removed at the end, as everything of ours is.
        """
        ...


def plain_variables(path: Sequence[Path]) -> dict[str, str]:
    """Return the whole environment of a program that imports from these folders."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTHONDONTWRITEBYTECODE": "1",
        # no program needs linear algebra: its threads would be started in vain
        "OPENBLAS_NUM_THREADS": "1",
    }
