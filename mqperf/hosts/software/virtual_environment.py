"""Virtual environments that hold what a lock file names, and nothing else."""

import sys
from pathlib import Path

from mqperf.hosts.software import installers


def make(product: str, home: Path, lock: Path) -> None:
    """Install what ``lock`` names, verified by hash, into a new environment for this Python.

    Everything is byte-compiled: the first use starts quickly, and later ones write nothing into an
    environment that is sealed in the cache.  Raises ``InstallError`` when ``product`` cannot be
    made.
    """
    uv = installers.uv()
    python = home / "bin" / "python"
    installers.output(product, [*uv, "venv", "--quiet", "--python", sys.executable, str(home)])
    pinned = ["--require-hashes", "--compile-bytecode", "-r", str(lock)]
    argv = [*uv, "pip", "install", "--quiet", "--python", str(python), *pinned]
    installers.output(product, argv)
