"""A folder of packages, as a lock file names them, for one platform."""

import hashlib
import sys
from importlib.metadata import distributions
from pathlib import Path

from mqperf.base import cache
from mqperf.hosts.software import installers
from mqperf.onhost.machine.platforms import Platform, here

UNCHECKED = {"PYC_INVALIDATION_MODE": "UNCHECKED_HASH"}
"""Compiled code stays valid whatever time a copy of its source has."""


def packages(product: str, lock: Path, target: Platform, *, needs: str = "") -> Path:
    """A folder for the path of a Python of that platform, made on first use and kept in the cache.

    Making it needs the network, and on this machine ``needs``, if the lock has packages without
    compiled code.  Two processes that ask at once make it once.  Raises ``InstallError`` with the
    last words of the installer, and ``HostError`` when the cache cannot be written.
    """
    other = None if target.takes_what_is_built_on(here()) else target
    home = cache.place() / "packages" / f"{lock.stem}-{digest(lock, other)}"
    cache.make(home, lambda: _build(product, lock, home, other, needs))
    return home


def versions(folder: Path) -> dict[str, str]:
    """The versions of the packages in a folder, by their names."""
    return {package.name: package.version for package in distributions(path=[str(folder)])}


def digest(lock: Path, target: Platform | None = None) -> str:
    """It changes with the pins, and with the Python that compiles or that it is made for."""
    made_for = f"{sys.version} {here().tag}" if target is None else f"{target.minor} {target.tag}"
    return hashlib.sha256((lock.read_text() + made_for).encode()).hexdigest()[:12]


def _build(product: str, lock: Path, home: Path, target: Platform | None, needs: str) -> None:
    """Everything that the lock names, byte-compiled where our Python can, to start quickly."""
    kind = ["--python", sys.executable, "--compile-bytecode"]
    if target is not None:
        kind = ["--python-version", target.minor, "--python-platform", target.tag]
        kind += ["--only-binary", ":all:"]
    pinned = ["--require-hashes", "--target", str(home), "-r", str(lock)]
    argv = [*installers.uv(), "pip", "install", "--quiet", *kind, *pinned]
    installers.output(product, argv, env=UNCHECKED, needs=needs)
