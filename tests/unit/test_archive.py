"""Archives of brokers: pinned, unpacked once, and refused when they are not what was pinned."""

import hashlib
import tarfile
from pathlib import Path

import pytest

from mqperf.base.errors import SystemFault
from mqperf_activemq.lab import activemq, artemis, artemis_ha, jolokia, leveldb
from mqperf_java.hosts.archive import Archive, fetched

EDITIONS = (activemq.EDITION, artemis_ha.EDITION, leveldb.EDITION)
PINNED = (
    *(archive for edition in EDITIONS for archive in (edition.archive, *edition.beside)),
    jolokia.AGENT,
    *artemis.EDITION.former,
)


def cached(cache: Path, extension: str = "tar.gz") -> Archive:
    """An archive in the cache as Maven would leave it."""
    folder = cache / "unpacked"
    folder.mkdir()
    file = folder / f"example-1.0-bin.{extension}"
    if extension == "tar.gz":
        (folder / "hello").write_text("hello")
        with tarfile.open(file, "w:gz") as tar:
            tar.add(folder / "hello", "example-1.0/bin/hello")
    else:
        file.write_bytes(b"jar")
    digest = hashlib.sha512(file.read_bytes()).hexdigest()
    return Archive("org.example", "example", "1.0", digest, extension)


def test_an_archive_is_unpacked_once(tmp_path: Path) -> None:
    """Its content is kept; the archive itself is removed."""
    archive = cached(tmp_path)
    home = fetched(archive, tmp_path)
    assert (home / "bin" / "hello").read_text() == "hello"
    assert not (tmp_path / "unpacked" / archive.file).exists()
    assert fetched(archive, tmp_path) == home


def test_a_damaged_broker_is_never_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is removed and fetched again, which needs Maven."""
    home = fetched(archive := cached(tmp_path), tmp_path)
    (home / "bin" / "hello").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemFault, match="is not installed: sudo apt-get install maven"):
        fetched(archive, tmp_path)
    assert not home.exists()


def test_a_single_file_lies_in_its_folder(tmp_path: Path) -> None:
    """A jar is not unpacked."""
    archive = cached(tmp_path, "jar")
    assert (fetched(archive, tmp_path) / archive.file).read_bytes() == b"jar"


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    """The error names the file, both sums, and how to get a sound one; nothing is unpacked."""
    archive = cached(tmp_path)
    file = tmp_path / "unpacked" / archive.file
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(SystemFault) as fault:
        fetched(archive, tmp_path)
    message = str(fault.value)
    assert message.startswith(f"{file} is not the pinned org.example:example:1.0:tar.gz:bin")
    assert archive.sha512[:16] in message
    assert "delete it and ~/.m2/repository/org/example/example/1.0" in message
    assert not archive.home(tmp_path).exists()


def test_without_maven_the_user_learns_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not in the cache needs Maven."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemFault, match="is not installed: sudo apt-get install maven"):
        fetched(activemq.EDITION.archive, tmp_path)


@pytest.mark.parametrize("archive", PINNED, ids=lambda archive: archive.artifact)
def test_every_archive_is_pinned(archive: Archive) -> None:
    """Version and SHA-512 are part of the code."""
    assert len(bytes.fromhex(archive.sha512)) == 64
    assert archive.version in archive.coordinates
