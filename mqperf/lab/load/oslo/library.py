"""oslo.messaging in a pinned environment per release, made on first use."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts.software import Machine, packages, path_of, versions
from mqperf.lab.load.oslo.releases import Release

REPORTED = ("oslo.messaging", "oslo.service", "eventlet", "greenlet", "kombu", "amqp")
"""Distributions of every release whose versions can explain a result."""


@dataclass(frozen=True, slots=True)
class Library:
    """A release on a host.

    ``python`` is the host's; ``path`` has the folders there that our programs are imported from,
    and then the release.
    """

    release: Release
    python: str
    path: tuple[Path, ...]
    versions: Mapping[str, str]

    def check(self) -> None:
        """Nothing of it can have changed: it is sealed in the cache."""


def library(title: str, release: Release, host: Machine, program: str = "mqperf") -> Library:
    """A release on a host, for ``title``; built first if there is no sound one in the cache.

    ``program`` is the module that imports it, or the package of that.
    Building needs the network.  Two processes that ask at once build it once.  Raises
    `InstallError` with the last words of the command that failed, and `HostError` when the cache,
    or the host, cannot be written.
    """
    site = packages(title, release.lock, host.platform, needs=release.tools)
    installed, reported = versions(site), (*REPORTED, *release.libraries)
    return Library(
        release=release,
        python=host.python,
        path=(*path_of(program, host), host.copied(site)),
        versions={
            "python": host.platform.python,
            **{name: installed[name] for name in reported if name in installed},
        },
    )
