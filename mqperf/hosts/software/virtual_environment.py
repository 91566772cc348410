"""Virtual environments with exactly the packages of a lock file."""

import sys
from pathlib import Path

from mqperf.hosts.software import installers


def make(product: str, home: Path, lock: Path) -> None:
    """Install the packages of ``lock``, verified by hash, into a new environment for this Python.

    Everything is byte-compiled: the first use starts quickly, and nothing is written later into the
    environment, which is sealed in the cache.  Raises ``InstallError``, naming ``product``, when
    the installation fails.
    """
    uv = installers.uv()
    python = home / "bin" / "python"
    installers.output(product, [*uv, "venv", "--quiet", "--python", sys.executable, str(home)])
    pinned = ["--require-hashes", "--compile-bytecode", "-r", str(lock)]
    argv = [*uv, "pip", "install", "--quiet", "--python", str(python), *pinned]
    installers.output(product, argv)
