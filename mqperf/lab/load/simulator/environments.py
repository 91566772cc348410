"""One pinned environment per release of the oslo.messaging simulator, made on first use.

Only the source distribution contains the simulator and its table of message lengths; the wheel
installs the driver under test.  Both come from the package index, verified by hash, and stay
unmodified; patches that a release needs on a current Python are applied at run time.
"""

import hashlib
import tarfile
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from typing_extensions import override

from mqperf.base import cache
from mqperf.base.errors import LoadError
from mqperf.hosts.software import ALONE, Machine, installers
from mqperf.lab.load.oslo.library import Library, library
from mqperf.lab.load.oslo.releases import Release, find

TOOLS = ("simulator.py", "messages_length.yaml")
LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Environment(Library):
    """A release with its simulator, ready to run on a host.

    ``simulator`` is the program on the host, ``tools`` the local folder that it was copied from.
    """

    simulator: Path
    tools: Path

    @override
    def check(self) -> None:
        """Raise `LoadError` unless the simulator still has the hashes in ``versions``."""
        try:
            unchanged = _hashes(self.tools).items() <= self.versions.items()
        except OSError:
            unchanged = False
        if not unchanged:
            raise LoadError(
                f"{self.tools}: {' or '.join(TOOLS)} was changed while it was in use;"
                " repeat the command, which creates the simulator again"
            )


def ensure(name: str, host: Machine) -> Environment:
    """Return the environment of a release on a host, built if the cache has no intact one.

    Building needs the network.  Of concurrent processes only one builds it.  Raises `InstallError`
    with the last output of the command that failed, and `HostError` when the cache, or the host,
    cannot be written.
    """
    release = find(name)
    title = f"The simulator environment {name!r} (oslo.messaging {release.version})"
    with ThreadPoolExecutor() as pool:
        installed = pool.submit(library, title, release, host, release.package)
        unpacked = pool.submit(_tools, title, release)
    messaging, tools = installed.result(), unpacked.result()
    return Environment(
        release=release,
        python=messaging.python,
        path=messaging.path,
        simulator=host.copied(tools) / "simulator.py",
        versions={**messaging.versions, **_hashes(tools)},
        tools=tools,
    )


def self_check(name: str, host: Machine) -> Mapping[str, str]:
    """Build the environment if needed, start its simulator once, and return its versions."""
    environment = ensure(name, host)
    argv = [environment.python, *ALONE, str(environment.simulator), "--help"]
    path = {"PYTHONPATH": str(environment.path[-1])}
    done = host.run(argv, env=path, timeout_s=LIMIT_S)
    if done.returncode:
        raise LoadError(
            f"{host.name}: the simulator of oslo.messaging {environment.release.version} does not"
            f" start: {done.stderr.strip()[-500:]}"
        )
    return environment.versions


def _tools(title: str, release: Release) -> Path:
    """Return the folder with the simulator and its table from the verified source distribution."""
    home = cache.place() / "generators" / f"simulator-{release.sdist_sha256[:12]}"
    cache.make(home, lambda: _unpack(title, release, home), read=TOOLS)
    return home


def _unpack(title: str, release: Release, home: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder, "sdist.txt")
        pinned.write_text(f"oslo.messaging=={release.version} --hash=sha256:{release.sdist_sha256}")
        options = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", str(pinned)]
        pip = [*installers.module("pip"), "download", "--quiet", "--no-input", *options]
        installers.output(title, [*pip, "--dest", folder])
        [archive] = Path(folder).glob("*.tar.gz")
        _extract(archive, home)


def _extract(archive: Path, folder: Path) -> None:
    folder.mkdir()
    with tarfile.open(archive) as sdist:
        for member in sdist.getmembers():
            path = PurePosixPath(member.name)
            if path.parts[1:-1] == ("tools",) and path.name in TOOLS:
                source = sdist.extractfile(member)
                if source is not None:
                    (folder / path.name).write_bytes(source.read())


def _hashes(folder: Path) -> dict[str, str]:
    """Return the current hashes of the simulator and of its table."""
    return {
        f"{Path(name).stem}_sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in TOOLS
    }
