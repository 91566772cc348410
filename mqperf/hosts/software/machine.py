"""What software is made for and taken to: a host, as far as that is concerned."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from mqperf.onhost.machine.platforms import Platform

ALONE = ("-P", "-S", "-s", "-u", "-B", "-W", "ignore")
"""Options of its Python for our programs: of what is installed for it there, nothing counts.

They write no byte code: in the cache it would be damage, and all that is there made anew."""


class Machine(Protocol):
    """A host on which programs of ours are to run."""

    @property
    def name(self) -> str:
        """Label of the host in records and messages."""
        ...

    @property
    def path(self) -> str:
        """Where its programs are looked for: folders, separated by colons."""
        ...

    @property
    def python(self) -> str:
        """Its Python: the program."""
        ...

    @property
    def platform(self) -> Platform:
        """What compiled code must be built for."""
        ...

    def run(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command to its end, and all that it started.

        Raises ``HostError`` when it has not ended in time.
        """
        ...

    def copied(self, ours: Path) -> Path:
        """Where a file or folder of ours is found there; copied when it is not there yet.

        A copy vanishes at the end, as everything of ours does.
        """
        ...


def plain_variables(path: Sequence[Path]) -> dict[str, str]:
    """All variables of a program that imports from these folders: nothing of the caller's."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTHONDONTWRITEBYTECODE": "1",
        # nothing here is linear algebra: its threads would only be started
        "OPENBLAS_NUM_THREADS": "1",
    }
