"""One pinned environment per release of the oslo.messaging simulator, made on first use.

The simulator and its table of message lengths are part of the source distribution only; the driver
under test is what the wheel installs.  Both come from the package index, verified by hash, and
stay unmodified; what a release needs to run on a current Python is repaired at run time.
"""

import hashlib
import json
import platform
import shlex
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mqperf import cache, virtual_environment
from mqperf.errors import LoadError
from mqperf.load.generator import RunCommand
from mqperf.load.simulator.releases import LOCKS, Release, find
from mqperf.redaction import without_passwords

TOOLS = ("simulator.py", "messages_length.yaml")
VERSIONS = "versions.json"
REPORTED = (
    "oslo.messaging",
    "oslo.service",
    "eventlet",
    "greenlet",
    "kombu",
    "amqp",
    "pyzmq",
    "redis",
    "pyngus",
    "python-qpid-proton",
)
"""Distributions whose versions can explain a result."""

LIST_INSTALLED = """
import importlib.metadata, json
print(json.dumps({d.name: d.version for d in importlib.metadata.distributions()}))
"""
LAST_LINES = 15
LIMIT_S = 3600
"""By then the slowest index has given all, or gives nothing."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A release that is ready to run on this machine."""

    release: Release
    python: Path
    simulator: Path
    versions: Mapping[str, str]

    def check(self) -> None:
        """Raise `LoadError` unless the simulator is still the one that ``versions`` names."""
        folder = self.simulator.parent
        try:
            same = _tools(folder).items() <= self.versions.items()
        except OSError:
            same = False
        if not same:
            raise LoadError(
                f"{folder}: {' or '.join(TOOLS)} was changed while it was in use;"
                " repeat the command, which makes the simulator anew"
            )


def ensure(name: str, run: RunCommand, folder: Path | None = None) -> Environment:
    """The environment of a release, built first if this machine has no sound one.

    Building needs the network, and a host to ``run`` the installers; ``folder`` is the cache, the
    user's by default.  Two processes that ask at once build it once.  Raises `LoadError` with the
    last words of the command that failed, and `HostError` when the cache cannot be written.
    """
    release = find(name)
    home = _home(release, cache.place() if folder is None else folder)
    cache.make(home, lambda: _build(release, home, run), read=(*TOOLS, VERSIONS))
    installed = json.loads((home / VERSIONS).read_text())
    versions = installed | _tools(home / "tools")
    return Environment(release, _python(home), home / "tools" / "simulator.py", versions)


def self_check(name: str, run: RunCommand, folder: Path | None = None) -> Mapping[str, str]:
    """Build the environment if needed, start its simulator once, and give its versions."""
    environment = ensure(name, run, folder)
    alone = ("-I", "-B", "-W", "ignore")  # no variable of the user's counts, no file is written
    argv = [str(environment.python), *alone, str(environment.simulator), "--help"]
    _run(environment.release, run, argv)
    return environment.versions


def _home(release: Release, folder: Path) -> Path:
    """A folder whose name changes with the pins and with the Python that it is made for."""
    made_of = (LOCKS / release.lock).read_text() + release.sdist_sha256 + sys.version
    digest = hashlib.sha256(made_of.encode()).hexdigest()[:12]
    return folder / "generators" / f"{release.name}-{digest}"


def _python(home: Path) -> Path:
    return virtual_environment.python(home / "venv")


def _build(release: Release, home: Path, run: RunCommand) -> None:
    home.mkdir()
    with ThreadPoolExecutor() as pool:
        steps = [pool.submit(step, release, home, run) for step in (_install, _unpack_tools)]
    for step in steps:
        step.result()
    (home / VERSIONS).write_text(json.dumps(_versions(release, home, run), indent=2))


def _install(release: Release, home: Path, run: RunCommand) -> None:
    """Everything that the lock file names, byte-compiled so that the first run starts quickly."""
    virtual_environment.make(
        home / "venv", LOCKS / release.lock, lambda argv: _run(release, run, argv)
    )


def _unpack_tools(release: Release, home: Path, run: RunCommand) -> None:
    """The simulator and its table, out of the verified source distribution."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "sdist.txt")
        wanted.write_text(f"oslo.messaging=={release.version} --hash=sha256:{release.sdist_sha256}")
        only = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", str(wanted)]
        pip = virtual_environment.module("pip")
        _run(release, run, [*pip, "download", "--quiet", "--no-input", *only, "--dest", folder])
        [archive] = Path(folder).glob("*.tar.gz")
        _extract(archive, home / "tools")


def _extract(archive: Path, folder: Path) -> None:
    folder.mkdir()
    with tarfile.open(archive) as sdist:
        for member in sdist.getmembers():
            path = PurePosixPath(member.name)
            if path.parts[1:-1] == ("tools",) and path.name in TOOLS:
                source = sdist.extractfile(member)
                if source is not None:
                    (folder / path.name).write_bytes(source.read())


def _versions(release: Release, home: Path, run: RunCommand) -> dict[str, str]:
    """Versions by distribution, and of Python."""
    said = _run(release, run, [str(_python(home)), "-I", "-B", "-c", LIST_INSTALLED])
    installed = json.loads(said)
    return {
        "python": platform.python_version(),
        **{name: installed[name] for name in REPORTED if name in installed},
    }


def _tools(folder: Path) -> dict[str, str]:
    """The hashes of the simulator and of its table, as they are now."""
    return {
        f"{Path(name).stem}_sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in TOOLS
    }


def _run(release: Release, run: RunCommand, argv: list[str]) -> str:
    """The standard output of a command that must succeed."""
    done = run(argv, timeout_s=LIMIT_S)
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-LAST_LINES:])
        tools = f", that there are {release.tools}" if release.tools else ""
        raise LoadError(
            f"The simulator environment {release.name!r} (oslo.messaging {release.version}) could "
            f"not be made: `{shlex.join(argv)}` ended with code {done.returncode}; check that the "
            f"package index can be reached{tools}, and that Python {platform.python_version()} can "
            f"make virtual environments, then try again. Its last words:\n{without_passwords(last)}"
        )
    return done.stdout
