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

    ``python`` is the host's; ``path`` has the import folders on the host: those of our programs,
    and then the release.
    """

    release: Release
    python: str
    path: tuple[Path, ...]
    versions: Mapping[str, str]

    def check(self) -> None:
        """Do nothing: the library is sealed in the cache and cannot have changed."""


def library(title: str, release: Release, host: Machine, program: str = "mqperf") -> Library:
    """Return a release on a host, built if the cache has no intact one; errors name ``title``.

    ``program`` is the module that imports it, or the package of that module.
    Building needs the network.  Of concurrent processes only one builds it.  Raises `InstallError`
    with the last output of the command that failed, and `HostError` when the cache, or the host,
    cannot be written.
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
