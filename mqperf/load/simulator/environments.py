"""One pinned environment per release of the oslo.messaging simulator, made on first use.

The simulator and its table of message lengths are part of the source distribution only; the driver
under test is what the wheel installs.  Both come from the package index, verified by hash, and
stay unmodified; what a release needs to run on a current Python is repaired at run time.
"""

import hashlib
import importlib.util
import json
import platform
import re
import shlex
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mqperf import cache, guarded
from mqperf.errors import LoadError
from mqperf.redaction import without_passwords

LOCKS = Path(__file__).with_name("locks")
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


@dataclass(frozen=True, slots=True)
class Release:
    """A release of oslo.messaging with its simulator, and all that it needs, by exact version.

    ``lock`` names a file in ``locks/``, ``repairs`` the functions of the shim that it needs, and
    ``tools`` says what must be installed to compile what comes without compiled code.
    """

    name: str
    version: str
    lock: str
    sdist_sha256: str
    repairs: tuple[str, ...]
    why: str
    tools: str = ""


RELEASES: dict[str, Release] = {
    "rabbitmq": Release(
        name="rabbitmq",
        version="18.3.1",
        lock="rabbitmq.txt",
        sdist_sha256="28831b36096d74da5cd1370ef25b4719aaca627d94785a67a9838a480ce7ee3a",
        repairs=(),
        why="current; releases 14.9 to 18.1 wait 0.5 s for every CALL (Launchpad bug 2035113)",
    ),
    "zeromq": Release(
        name="zeromq",
        version="8.1.4",
        lock="zeromq.txt",
        sdist_sha256="c91626c5075620265db6c7050409b675c65b41df2308c3ece1da47c9bc935b67",
        repairs=("abstract-collections", "zmq-call-monitor", "whole-topic"),
        why="the last series with a ZeroMQ driver",
    ),
    "amqp": Release(
        name="amqp",
        version="14.9.3",
        lock="amqp.txt",
        sdist_sha256="0b7247700f97269aba077bad48fc06d194dd0e9bf3188fd7aa607a8dfa0bebde",
        repairs=("amqp-expiry", "amqp-warnings", "amqp-first-host"),
        why="the last series with an AMQP 1.0 driver",
        tools="a C compiler and Python's headers (sudo apt-get install gcc libc6-dev python3-dev)",
    ),
}


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


def find(name: str) -> Release:
    """The release of that name; raises `LoadError` listing the known ones."""
    if name not in RELEASES:
        raise LoadError(f"No simulator release {name!r}; there are: {', '.join(RELEASES)}.")
    return RELEASES[name]


def pinned(name: str, distribution: str) -> str:
    """The version of a distribution that the lock of a release names."""
    lock = (LOCKS / find(name).lock).read_text()
    found = re.search(rf"^{re.escape(distribution)}==(\S+)", lock, re.MULTILINE)
    if found is None:
        raise LoadError(f"{LOCKS / find(name).lock}: does not name {distribution}; renew the locks")
    return found[1]


def ensure(name: str, folder: Path | None = None) -> Environment:
    """The environment of a release, built first if this machine has no sound one.

    Building needs the network; ``folder`` is the cache, the user's by default.  Two processes that
    ask at once build it once.  Raises `LoadError` with the last words of the command that failed,
    and `HostError` when the cache cannot be written.
    """
    release = find(name)
    home = _home(release, cache.place() if folder is None else folder)
    cache.make(home, lambda: _build(release, home), read=(*TOOLS, VERSIONS))
    installed = json.loads((home / VERSIONS).read_text())
    versions = installed | _tools(home / "tools")
    return Environment(release, _python(home), home / "tools" / "simulator.py", versions)


def self_check(name: str, folder: Path | None = None) -> Mapping[str, str]:
    """Build the environment if needed, start its simulator once, and give its versions."""
    environment = ensure(name, folder)
    alone = ("-I", "-B", "-W", "ignore")  # no variable of the user's counts, no file is written
    argv = [str(environment.python), *alone, str(environment.simulator), "--help"]
    _run(environment.release, argv)
    return environment.versions


def _home(release: Release, folder: Path) -> Path:
    """A folder whose name changes with the pins and with the Python that it is made for."""
    made_of = (LOCKS / release.lock).read_text() + release.sdist_sha256 + sys.version
    digest = hashlib.sha256(made_of.encode()).hexdigest()[:12]
    return folder / "generators" / f"{release.name}-{digest}"


def _python(home: Path) -> Path:
    return home / "venv" / "bin" / "python"


def _build(release: Release, home: Path) -> None:
    home.mkdir()
    with ThreadPoolExecutor() as pool:
        steps = [pool.submit(step, release, home) for step in (_install, _unpack_tools)]
    for step in steps:
        step.result()
    (home / VERSIONS).write_text(json.dumps(_versions(release, home), indent=2))


def _install(release: Release, home: Path) -> None:
    """Everything that the lock file names, byte-compiled so that the first run starts quickly."""
    uv = _uv()
    _run(release, [*uv, "venv", "--quiet", "--python", sys.executable, str(home / "venv")])
    pinned = ["--require-hashes", "--compile-bytecode", "-r", str(LOCKS / release.lock)]
    _run(release, [*uv, "pip", "install", "--quiet", "--python", str(_python(home)), *pinned])


def _unpack_tools(release: Release, home: Path) -> None:
    """The simulator and its table, out of the verified source distribution."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "sdist.txt")
        wanted.write_text(f"oslo.messaging=={release.version} --hash=sha256:{release.sdist_sha256}")
        only = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", str(wanted)]
        _run(release, [*_pip(), "download", "--quiet", "--no-input", *only, "--dest", folder])
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


def _versions(release: Release, home: Path) -> dict[str, str]:
    """Versions by distribution, and of Python."""
    said = _run(release, [str(_python(home)), "-I", "-B", "-c", LIST_INSTALLED])
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


def _uv() -> list[str]:
    found = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    return [found] if found else _module("uv")


def _pip() -> list[str]:
    return _module("pip")


def _module(name: str) -> list[str]:
    """The command that runs a tool of this Python, whatever lies in the current folder."""
    if importlib.util.find_spec(name) is None:
        raise LoadError(
            f"{name}, with which load generators are installed, is missing for {sys.executable}:"
            f" install {name} for this Python, or mqperf with all it requires"
        )
    return [sys.executable, "-P", "-m", name]


def _run(release: Release, argv: list[str]) -> str:
    """The standard output of a command that must succeed; it dies with us."""
    done = guarded.run(argv)
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
