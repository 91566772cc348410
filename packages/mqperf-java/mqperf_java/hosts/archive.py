"""Pinned archives of brokers, fetched from Maven's central repository with the user's Maven.

Archives are checked against their pinned SHA-512 when they are unpacked into the user's cache, and
unpacked files for damage at each use, so that no other file is ever run.
"""

import hashlib
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mqperf.base import cache
from mqperf.base.errors import SystemFault
from mqperf_java.hosts import maven


@dataclass(frozen=True, slots=True)
class Archive:
    """One file of the repository: its coordinates, and its pinned SHA-512."""

    group: str
    artifact: str
    version: str
    sha512: str
    extension: str = "tar.gz"
    classifier: str = "bin"

    @property
    def file(self) -> str:
        """The name of the file."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.{self.extension}"

    @property
    def coordinates(self) -> str:
        """The coordinates in Maven's notation."""
        parts = (self.group, self.artifact, self.version, self.extension, self.classifier)
        return ":".join(part for part in parts if part)

    def home(self, folder: Path | None = None) -> Path:
        """Return the folder in the cache for its content, or for the file if it is no ``tar.gz``.

        The name depends on the pin; ``folder`` is the cache, the user's by default.
        """
        root = cache.place() if folder is None else folder
        return root / "unpacked" / f"{self.artifact}-{self.version}-{self.sha512[:12]}"


def available(archive: Archive) -> None:
    """Raise ``SystemFault`` if an archive is not in the cache, and Maven is not installed."""
    if not cache.intact(archive.home()):
        maven.maven(archive.file)


def fetched(archive: Archive, folder: Path | None = None) -> Path:
    """Return the folder of an archive's content; fetch it first if it is missing or damaged.

    Concurrent processes fetch it only once.  Raises ``SystemFault`` if Maven is missing or fails,
    or the file is not the pinned one, and ``HostError`` if the cache cannot be written.
    """
    home = archive.home(folder)
    cache.make(home, lambda: _install(archive, home))
    return home


def _install(archive: Archive, home: Path) -> None:
    file = home.parent / archive.file
    if not file.exists():
        _fetch(archive, file)
    _verify(archive, file)
    with tempfile.TemporaryDirectory(dir=home.parent) as draft:
        content = _unpack(file, Path(draft)) if archive.extension == "tar.gz" else _in_folder(file)
        content.rename(home)
    file.unlink(missing_ok=True)


def _fetch(archive: Archive, file: Path) -> None:
    with tempfile.TemporaryDirectory(dir=file.parent) as draft:
        options = [f"-Dartifact={archive.coordinates}", f"-DoutputDirectory={draft}"]
        maven.run("copy", options, archive.coordinates, archive.file)
        (Path(draft) / archive.file).rename(file)


def _verify(archive: Archive, file: Path) -> None:
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha512").hexdigest()
    if digest != archive.sha512:
        folder = "/".join((*archive.group.split("."), archive.artifact, archive.version))
        raise SystemFault(
            f"{file} is not the pinned {archive.coordinates}: its SHA-512 is {digest[:16]}...,"
            f" not {archive.sha512[:16]}...; delete it and ~/.m2/repository/{folder},"
            " and repeat the command to fetch it again"
        )


def _unpack(file: Path, folder: Path) -> Path:
    """Unpack into ``folder``; return the only folder of the archive."""
    with tarfile.open(file) as archive:
        # Python before 3.11.4 has no filters; the checksum was verified.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202 (see above)
    [content] = folder.iterdir()
    return content


def _in_folder(file: Path) -> Path:
    folder = file.with_suffix(".folder")
    folder.mkdir(exist_ok=True)
    file.rename(folder / file.name)
    return folder
