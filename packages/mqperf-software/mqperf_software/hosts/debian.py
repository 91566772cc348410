"""Debian releases in folders of the cache, each with one package in the version that it has there.

A folder is named by package, version and release, and has that name once it is whole.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from mqperf.base import cache, processes
from mqperf.base.errors import SystemFault
from mqperf.base.redaction import without_passwords
from mqperf.base.releases import is_of, parsed
from mqperf.hosts.software import Machine, Root, Source

RELEASES = {"rabbitmq-server": {"3.10": "bookworm", "4.0": "trixie", "4.3": "forky"}}
"""By package, the release of Debian that has a version; testing moves on."""

ROOM_BYTES = 1_500_000_000
"""So much must be free before one is made: it holds about 350 MB, and downloads before."""

NEEDED = {
    "debootstrap": "apt-get install debootstrap",
    "unshare": "apt-get install util-linux",
    "chroot": "apt-get install coreutils",
    "apt-get": "only Debian and its like have it, elsewhere give home",
}
"""Programs that make a root, and how to come by each."""

LIMIT_S = 1800
LAST_LINES = 5


@dataclass(frozen=True, slots=True)
class DebianRoot:
    """A folder with a Debian release, made for a package in the version that it has there."""

    folder: Path
    package: str
    version: str
    release: str

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        files = (Path(top, name) for top, _, names in os.walk(self.folder) for name in names)
        return sum(file.lstat().st_size for file in files)

    @property
    def made(self) -> datetime:
        """When it was whole."""
        return datetime.fromtimestamp(self.folder.stat().st_ctime, UTC)


def roots() -> list[DebianRoot]:
    """Those in the cache, by package and version."""
    return sorted(_roots(), key=lambda root: (root.package, parsed(root.version)))


def fits(root: DebianRoot, package: str, version: str) -> bool:
    """Whether a root has a package in a version, 4.3.6 for 4.3."""
    return root.package == package and is_of(root.version, version)


def find(machine: Machine, package: str, version: str) -> Root | None:
    """The newest root on the host of a version, None where it must be made.

    Raises ``SystemFault``, with what to do, where there is none and none can be made.
    """
    there = [root for root in roots() if fits(root, package, version)]
    problem = _problem(package, version, make=not there)
    if problem is not None:
        raise SystemFault(f"{package} {version} is not installed, and {problem}")
    if not there:
        return None
    folder = there[-1].folder
    if machine.run(["test", "-d", str(folder)], timeout_s=60).returncode:
        raise SystemFault(
            f"{package} {version} is not on {machine.name}: versions beside the installed one are"
            " for brokers of this machine; give home the folder of an archive there instead"
        )
    return Root(folder)


def make(machine: Machine, package: str, version: str) -> Root:
    """Make a root of a version, as root and once; two that ask at once make it once.

    Raises ``SystemFault`` with the last words of what could not make it, or when its release has
    another version by now, and ``HostError`` when the cache cannot be written.
    """
    release = _release(package, version)
    home = _place()
    with cache.refusals(home):
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / f"{package}-{release}.lock"):
            root = find(machine, package, version)
            if root is None:
                _make(package, version, release, home / f"{package}-{release}.partial")
    made = find(machine, package, version)
    if made is None:
        raise SystemFault(f"{package} {version} was made, and removed meanwhile: run it again")
    return made


def remove(root: DebianRoot) -> None:
    """Remove the folder of a root; what is mounted there belongs to processes that still run."""
    partial = root.folder.with_name(f"{root.folder.name}.partial")
    root.folder.rename(partial)
    _clear(partial)


def _roots() -> Iterator[DebianRoot]:
    with suppress(FileNotFoundError):
        for folder in _place().iterdir():
            name, _, release = folder.name.rpartition("-")
            package, _, version = name.rpartition("-")
            if folder.is_dir() and package and not folder.name.endswith(".partial"):
                yield DebianRoot(folder, package, version, release)


def _problem(package: str, version: str, *, make: bool) -> str | None:
    """What forbids to run a root here, or also to ``make`` one, with who must do what."""
    if os.geteuid() != 0:
        return "only root runs versions beside it: run mqperf as root, or give home"
    if missing := [name for name in NEEDED if make and shutil.which(name) is None]:
        return (
            f"{missing[0]}, which makes the folder of another version, is missing:"
            f" {NEEDED[missing[0]]}"
        )
    if make:
        _release(package, version)
    if processes.run(["unshare", "--mount", "true"], timeout_s=60).returncode:
        return "namespaces of mounts are forbidden here: allow them, or give home"
    return None


def _release(package: str, version: str) -> str:
    """The release that has a version; raises ``SystemFault`` for one that none has."""
    known = RELEASES.get(package, {})
    for each, release in known.items():
        if is_of(version, each) or is_of(each, version):
            return release
    raise SystemFault(
        f"{package} {version} is not installed, and no Debian has it: install it, give home the"
        f" folder of its archive, or ask for {' or '.join(known) or 'what is installed'}"
    )


def _make(package: str, version: str, release: str, partial: Path) -> None:
    """Fill a folder, and give it its name."""
    _clear(partial)
    if (free := shutil.disk_usage(partial.parent).free) < ROOM_BYTES:
        raise SystemFault(
            f"{package} {version}: {partial.parent} has {free / 1e9:.1f} GB free, and a folder with"
            f" it needs up to {ROOM_BYTES / 1e9:.1f}: free some, or set XDG_CACHE_HOME"
        )
    script = Path(__file__).with_name("debian_root.sh")
    apart = ("unshare", "--mount", "--pid", "--fork", "--kill-child=KILL")
    argv = [*apart, "sh", str(script), release, str(partial), package]
    done = processes.run(argv, env={**os.environ}, timeout_s=LIMIT_S)
    if done.returncode:
        words = [*done.stderr.splitlines(), *_last_words(partial)][-LAST_LINES:]
        raise SystemFault(
            f"{package} {version} could not be got from Debian {release}: check that apt-get update"
            " works here, then try again. Last words:\n" + without_passwords("\n".join(words))
        )
    query = ["dpkg-query", "--admindir", str(partial / "var/lib/dpkg"), "-W", "-f", "${Version}"]
    got = _upstream(processes.run([*query, package], timeout_s=60).stdout)
    if not is_of(got, version):
        _clear(partial)
        raise SystemFault(f"Debian {release} has {package} {got} by now: ask for it")
    partial.with_name(f"{partial.name}.log").unlink(missing_ok=True)
    partial.rename(partial.with_name(f"{package}-{got}-{release}"))


def _last_words(partial: Path) -> list[str]:
    with suppress(OSError):
        return partial.with_name(f"{partial.name}.log").read_text(errors="replace").splitlines()
    return []


def _clear(partial: Path) -> None:
    """Remove what is half made, and nothing that is mounted in it.

    Raises ``SystemFault`` where that fails.
    """
    if not partial.exists():
        return
    done = processes.run(["rm", "-rf", "--one-file-system", str(partial)], timeout_s=LIMIT_S)
    if done.returncode:
        last = "".join(done.stderr.splitlines()[-1:])
        raise SystemFault(f"{partial} cannot be removed, a process may still run in it: {last}")


def _place() -> Path:
    return cache.place() / "roots"


def _upstream(version: str) -> str:
    """The version of the software in that of its package: 4.3.6 of ``1:4.3.6-1``."""
    return version.rpartition(":")[2].partition("-")[0].partition("+")[0]


SOURCE = Source("debian", find, make)
