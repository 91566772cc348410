"""Packages for platforms, fetched from the real package index."""

from pathlib import Path

import pytest

from mqperf.base import cache
from mqperf.base.errors import InstallError
from mqperf.hosts.software import Platform, here, packages, versions
from mqperf.lab.load.oslo.releases import RELEASES
from mqperf.lab.probes.psutil import LOCK

OURS = here()
FOREIGN_MACHINE = "x86_64" if OURS.machine == "aarch64" else "aarch64"
FOREIGN = Platform("3.12.1", FOREIGN_MACHINE, "glibc 2.39")
MACHINES = {62: "x86_64", 183: "aarch64"}
"""Processors by their number in the header of a compiled file."""

pytestmark = pytest.mark.usefixtures("own_cache")


def compiled_for(folder: Path) -> set[str]:
    """The processors for which the folder has compiled code."""
    headers = [file.read_bytes()[:20] for file in folder.rglob("*.so")]
    return {MACHINES[int.from_bytes(header[18:20], "little")] for header in headers}


def test_packages_are_made_once_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled to start quickly on this platform; the second time nothing is fetched."""
    made = packages("psutil", LOCK, OURS)
    assert f"psutil=={versions(made)['psutil']} " in LOCK.read_text()
    assert compiled_for(made) == {OURS.machine}
    assert list(made.rglob("__pycache__/*.pyc"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_NO_CACHE", "1")
    assert packages("psutil", LOCK, OURS) == made
    assert cache.intact(made)


def test_hosts_like_ours_share_what_is_built_here() -> None:
    """Another patch release of Python and a newer C library use the same folder."""
    name = OURS.libc.partition(" ")[0]
    alike = Platform(f"{OURS.minor}.99", OURS.machine, f"{name} 99.1")
    assert packages("psutil", LOCK, alike) == packages("psutil", LOCK, OURS)


def test_other_platforms_get_their_own() -> None:
    """Code that is compiled for their processor, in a separate folder."""
    theirs, ours = packages("psutil", LOCK, FOREIGN), packages("psutil", LOCK, OURS)
    assert theirs != ours
    assert versions(theirs) == versions(ours)
    assert compiled_for(theirs) == {FOREIGN_MACHINE}


def test_nothing_is_compiled_for_other_platforms() -> None:
    """The error names a package that exists as source only; no partial folder is used."""
    lock = RELEASES["amqp"].lock
    with pytest.raises(InstallError, match="pyngus"):
        packages("The simulator", lock, FOREIGN)
    assert not list((cache.place() / "packages").glob("*.sealed"))


def test_what_has_another_hash_is_not_installed(tmp_path: Path) -> None:
    """Only files with the hashes of the lock; each lock has its own folder."""
    lines = LOCK.read_text().splitlines()
    forged = [line[: line.index("sha256:") + 7] + "0" * 64 for line in lines if "sha256:" in line]
    [pin] = [line for line in lines if line.startswith("psutil==")]
    lock = tmp_path / "psutil.txt"
    lock.write_text(f"{pin}\n{forged[0]}\n")
    with pytest.raises(InstallError, match="psutil could not be installed"):
        packages("psutil", lock, OURS)
    assert not list((cache.place() / "packages").glob("*.sealed"))
