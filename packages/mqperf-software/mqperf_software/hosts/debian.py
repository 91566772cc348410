"""Debian releases in folders of a host's cache, each with a package in the version it has there.

A folder is named by package, version and release, and has that name once it is complete.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from mqperf.base import cache
from mqperf.base.errors import SystemFault
from mqperf.base.redaction import without_passwords
from mqperf.base.releases import is_of, parsed
from mqperf.hosts import HERE, LocalHost
from mqperf.hosts.software import Machine, Root

RELEASES = {
    "rabbitmq-server": {"3.10": "bookworm", "4.0": "trixie", "4.3": "forky"},
    "erlang-nox": {"25": "bookworm", "27": "trixie", "29": "forky"},
    "nats-server": {"2.9": "bookworm", "2.10": "trixie", "2.15": "forky"},
    "redis-server": {"7.0": "bookworm", "8.0": "trixie"},
}
"""Package -> version -> the release of Debian that has it; testing gets newer ones over time."""

ROOM_BYTES = 1_500_000_000
"""Free space needed to make a root: it has about 350 MB in the end, and downloads before."""

NEEDED = {
    "debootstrap": "apt-get install debootstrap",
    "unshare": "apt-get install util-linux",
    "chroot": "apt-get install coreutils",
    "apt-get": "only Debian and distributions based on it have it",
}
"""Programs that make a root, and how to get each."""

SYSTEM_PATH = "PATH=$PATH:/usr/sbin:/sbin; "
LIMIT_S = 60
MAKING_LIMIT_S = 1800
LAST_LINES = 5
FULL, OTHER_VERSION = 3, 4
"""Exit codes of ``make_root.sh``."""


@dataclass(frozen=True, slots=True)
class DebianRoot:
    """A folder of a machine with a Debian release, made for the version of a package in it."""

    folder: Path
    package: str
    version: str
    release: str
    made: datetime


def roots(machine: Machine) -> list[DebianRoot]:
    """Return the roots in the machine's cache, by package and version."""
    form = ("-mindepth", "1", "-maxdepth", "1", "-type", "d", "-printf", r"%C@ %p\n")
    listed = machine.run(["find", str(place(machine)), *form], timeout_s=LIMIT_S).stdout
    found = (_root(line) for line in listed.splitlines() if not line.endswith(".partial"))
    named = (root for root in found if root.package)
    return sorted(named, key=lambda root: (root.package, parsed(root.version)))


def fits(root: DebianRoot, package: str, version: str) -> bool:
    """Whether a root has a package in a version, 4.3.6 for 4.3."""
    return root.package == package and is_of(root.version, version)


def size_bytes(machine: Machine, root: DebianRoot) -> int:
    """Return the bytes of all files of a root."""
    argv = ["du", "--summarize", "--bytes", str(root.folder)]
    return int(machine.run(argv, timeout_s=MAKING_LIMIT_S).stdout.split("\t")[0])


def find(machine: Machine, package: str, version: str) -> Root | None:
    """Return the newest root of a machine with a version, None where it must be made.

    Raise ``SystemFault``, with what to do, where a root cannot be run, or be made if there is none.
    """
    matching = [root for root in roots(machine) if fits(root, package, version)]
    problem = _problem(machine, package, version, make=not matching)
    if problem is not None:
        raise SystemFault(f"{package} {version} is not installed{_on(machine)}, and {problem}")
    return Root(matching[-1].folder) if matching else None


def make(machine: Machine, package: str, version: str) -> Root:
    """Make a root of a version, as root; concurrent callers make it once.

    Raise ``SystemFault`` with the last lines of a failed attempt, or if its release has another
    version by now.
    """
    home, release = place(machine), _release(package, version)
    maker: Machine = LocalHost() if _has_our_files(machine) else machine
    scripts = [Path(__file__).with_name(name) for name in ("make_root.sh", "debian_root.sh")]
    script, fill = (str(maker.copied(each)) for each in scripts)
    argv = ["sh", script, str(home), package, version, release, str(ROOM_BYTES), fill]
    # our own environment may have the proxy by which this machine reaches Debian
    variables = {**os.environ} if maker.name == HERE else None
    result = maker.run(argv, env=variables, timeout_s=MAKING_LIMIT_S)
    if result.returncode == FULL:
        raise SystemFault(
            f"{package} {version}: {home}{_on(machine)} has {int(result.stdout) / 1e9:.1f} GB free,"
            f" and a folder with it needs up to {ROOM_BYTES / 1e9:.1f}: free some, or set"
            " XDG_CACHE_HOME"
        )
    if result.returncode == OTHER_VERSION:
        raise SystemFault(
            f"Debian {release} has {package} {result.stdout.strip()} by now: ask for it"
        )
    if result.returncode:
        raise SystemFault(
            f"{package} {version} could not be fetched from Debian {release}: check that apt-get"
            f" update works{_on(machine) or ' here'}, then try again. Its last output:\n"
            + without_passwords("\n".join(result.stderr.splitlines()[-LAST_LINES:]))
        )
    made = find(machine, package, version)
    if made is None:
        raise SystemFault(f"{package} {version} was made, and removed meanwhile: run it again")
    return made


def place(machine: Machine) -> Path:
    """Return the folder for roots in the cache of a machine's user; it need not exist."""
    script = 'printf %s "${XDG_CACHE_HOME:-${HOME:?}/.cache}/mqperf/roots"'
    result = machine.run(["sh", "-c", script], timeout_s=LIMIT_S)
    if result.returncode or not result.stdout.startswith("/"):
        raise SystemFault(
            f"no place for the cache of brokers{_on(machine)}, since this user has no home folder:"
            " set HOME or XDG_CACHE_HOME to an absolute path"
        )
    return Path(result.stdout)


def remove(machine: Machine, root: DebianRoot) -> None:
    """Remove the folder of a root, but not mounts in it, which are of processes that still run.

    Raise ``SystemFault`` where it cannot be removed.
    """
    partial = str(root.folder.with_name(f"{root.package}-{root.release}.partial"))
    script = 'rm -rf --one-file-system "$2" && mv "$1" "$2" && rm -rf --one-file-system "$2"'
    argv = ["sh", "-c", script, "sh", str(root.folder), partial]
    result = machine.run(argv, timeout_s=MAKING_LIMIT_S)
    if result.returncode:
        last = "".join(result.stderr.splitlines()[-1:])
        raise SystemFault(f"{partial} cannot be removed: does a process still run in it? {last}")


def _root(line: str) -> DebianRoot:
    """Return the root of a line that has its time of completion and its folder."""
    time, _, folder = line.partition(" ")
    name, _, release = folder.rpartition("/")[2].rpartition("-")
    package, _, version = name.rpartition("-")
    made = datetime.fromtimestamp(float(time), UTC)
    return DebianRoot(Path(folder), package, version, release, made)


def _problem(machine: Machine, package: str, version: str, *, make: bool) -> str | None:
    """Return why a root cannot be run, or with ``make`` be made, on a machine, and what to do."""
    if make:
        _release(package, version)
    if machine.run(["id", "-u"], timeout_s=LIMIT_S).stdout.strip() != "0":
        return "only root runs versions beside it: be root there, or ask for what is installed"
    if make and (missing := _missing(machine, tuple(NEEDED))):
        return (
            f"{missing[0]}, which makes the folder of another version, is missing:"
            f" {NEEDED[missing[0]]}"
        )
    if machine.run(["unshare", "--mount", "true"], timeout_s=LIMIT_S).returncode:
        return "namespaces of mounts are forbidden there: allow them"
    return None


def _missing(machine: Machine, programs: Sequence[str]) -> list[str]:
    look = SYSTEM_PATH + 'for each; do command -v "$each" >/dev/null || echo "$each"; done'
    return machine.run(["sh", "-c", look, "sh", *programs], timeout_s=LIMIT_S).stdout.split()


def _release(package: str, version: str) -> str:
    """Return the release that has a version; raise ``SystemFault`` if none has it."""
    known = RELEASES.get(package, {})
    for each, release in known.items():
        if is_of(version, each) or is_of(each, version):
            return release
    raise SystemFault(
        f"{package} {version} is not installed, and no Debian has it: install it, or ask for"
        f" {' or '.join(known) or 'what is installed'}"
    )


def _has_our_files(machine: Machine) -> bool:
    """Whether a host shares this machine's files; it may have no network to Debian itself."""
    if machine.name == HERE or (home := place(machine)) != place(LocalHost()):
        return False
    with cache.refusals(home):
        home.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=home) as file:
            return machine.run(["test", "-e", file.name], timeout_s=LIMIT_S).returncode == 0


def _on(machine: Machine) -> str:
    return "" if machine.name == HERE else f" on {machine.name}"
