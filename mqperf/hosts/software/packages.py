"""A folder with the packages of a lock file, for one platform."""

import hashlib
import sys
from importlib.metadata import distributions
from pathlib import Path

from mqperf.base import cache
from mqperf.hosts.software import installers
from mqperf.onhost.machine.platforms import Platform, here

UNCHECKED = {"PYC_INVALIDATION_MODE": "UNCHECKED_HASH"}
"""Byte code stays valid whatever modification time a copy of its source has."""


def packages(product: str, lock: Path, target: Platform, *, needs: str = "") -> Path:
    """Return an import folder for a Python of that platform, built on first use and cached.

    Building needs the network, and on this machine ``needs``, if the lock has packages without
    compiled code.  Of concurrent processes only one builds it.  Raises ``InstallError`` with the
    last output of the installer, and ``HostError`` when the cache cannot be written.
    """
    foreign = None if target.takes_what_is_built_on(here()) else target
    home = cache.place() / "packages" / f"{lock.stem}-{digest(lock, foreign)}"
    cache.make(home, lambda: _build(product, lock, home, foreign, needs))
    return home


def versions(folder: Path) -> dict[str, str]:
    """Return the versions of the packages in a folder, by name."""
    return {package.name: package.version for package in distributions(path=[str(folder)])}


def digest(lock: Path, target: Platform | None = None) -> str:
    """Return a digest of the pins and of the Python that compiles, or that is the target."""
    python = f"{sys.version} {here().tag}" if target is None else f"{target.minor} {target.tag}"
    return hashlib.sha256((lock.read_text() + python).encode()).hexdigest()[:12]


def _build(product: str, lock: Path, home: Path, target: Platform | None, needs: str) -> None:
    """Install the packages of the lock; for our own Python byte-compiled, to start quickly."""
    options = ["--python", sys.executable, "--compile-bytecode"]
    if target is not None:
        options = ["--python-version", target.minor, "--python-platform", target.tag]
        options += ["--only-binary", ":all:"]
    pinned = ["--require-hashes", "--target", str(home), "-r", str(lock)]
    argv = [*installers.uv(), "pip", "install", "--quiet", *options, *pinned]
    installers.output(product, argv, env=UNCHECKED, needs=needs)
