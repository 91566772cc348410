"""Software roots of a host over SSH: made with the same script, found, and removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mqperf.hosts.place import Place
from mqperf.hosts.remote import RemoteHost, connected
from mqperf.hosts.software import Platform, Root
from mqperf_software.hosts import debian

if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import CompletedProcess

pytestmark = pytest.mark.needs_debootstrap

FILL = """\
[ "$1" = trixie ] && mkdir -p "$2/var/lib/dpkg"
echo "Package: $3\nStatus: install ok installed\nArchitecture: all\nVersion: 2.10.27-1+b2\n" \\
    >"$2/var/lib/dpkg/status"
"""
"""Replaces ``debian_root.sh``, as hosts in namespaces cannot reach a Debian mirror."""


@dataclass
class Elsewhere:
    """A host whose cache is in ``folder``."""

    host: RemoteHost
    folder: Path
    name: str = "h1"
    path: str = ""
    python: str = ""

    @property
    def platform(self) -> Platform:
        return self.host.platform

    def run(
        self, argv: Sequence[str], *, env: "Mapping[str, str] | None" = None, timeout_s: float
    ) -> "CompletedProcess[str]":
        assert env is None
        ours = {"XDG_CACHE_HOME": str(self.folder / "there"), "PATH": "/usr/sbin:/usr/bin:/bin"}
        return self.host.run(argv, env=ours, timeout_s=timeout_s)

    def copied(self, ours: Path) -> Path:
        if ours.name == "debian_root.sh":
            ours = self.folder / "fill.sh"
            ours.write_text(FILL)
        return self.host.copied(ours)


def test_a_version_is_installed_on_a_host_kept_and_removed(
    places: tuple[Place, ...], tmp_path: Path
) -> None:
    """A root outlives the connection, like installed software."""
    with connected(places[:1]) as [remote]:
        host = Elsewhere(remote, tmp_path)
        assert debian.find(host, "nats-server", "2.10") is None
        made = debian.make(host, "nats-server", "2.10")
        assert made == Root(tmp_path / "there/mqperf/roots/nats-server-2.10.27-trixie")
    with connected(places[:1]) as [remote]:
        host = Elsewhere(remote, tmp_path)
        assert debian.find(host, "nats-server", "2.10") == made
        [root] = debian.roots(host)
        debian.remove(host, root)
        assert debian.roots(host) == []
