"""The archive of a bundle: a tar of regular files in xz, in one canonical form.

Archives are untrusted.  Each header must be, byte for byte, the one that ``pack`` writes for a file
of that name and size: this excludes links, devices, owners and times, and the checksums of xz cover
every byte of the file.
"""

import hashlib
import lzma
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from mqperf.base import raw
from mqperf.base.errors import RecordError
from mqperf.base.one_line import amount

BLOCK = 1 << 20
PRESET = 2
"""Preset of xz: three times as fast as the default, for files a few per cent larger."""

MEMORY_BYTES = 256 * raw.MIB
"""Most memory that unpacking may use."""

KINDS = {
    tarfile.SYMTYPE: "a link",
    tarfile.LNKTYPE: "a link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a named pipe",
    tarfile.DIRTYPE: "a folder",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an archive; its content may have ``small_bytes`` plus ``ratio`` times its size."""

    files: int = 200_000
    file_bytes: int = raw.MESSAGES_LIMIT_BYTES
    total_bytes: int = 2**38
    small_bytes: int = 64 * raw.MIB
    ratio: int = 200


LIMITS = Limits()


def pack(folder: Path, names: Iterable[str], out: Path) -> None:
    """Write these files of a folder, in this order, into ``out``.

    Raises ``RecordError`` for a name that is too long for a tar.
    """
    with lzma.open(out, "wb", check=lzma.CHECK_SHA256, preset=PRESET) as packed:
        for name in names:
            with raw.opened(folder / name, LIMITS.file_bytes) as file:
                size = file.seek(0, 2)
                file.seek(0)
                packed.write(_header(name, size))
                while block := file.read(BLOCK):
                    packed.write(block)
            packed.write(bytes(-size % tarfile.BLOCKSIZE))
        packed.write(bytes(2 * tarfile.BLOCKSIZE))


def unpack(archive: Path, folder: Path, limits: Limits = LIMITS) -> dict[str, str]:
    """Unpack an archive into an empty folder, and return the sha256 of each file by name.

    Raises ``RecordError`` if it is not such an archive, is damaged, or contains anything but files
    within the limits.
    """
    digests: dict[str, str] = {}
    with raw.opened(archive, limits.total_bytes) as packed:
        tar = _Tar(archive, packed, limits)
        while (entry := tar.entry()) is not None:
            name, size = entry
            if name in digests or len(digests) == limits.files:
                why = "is in it twice" if name in digests else f"is one more than {limits.files}"
                raise RecordError(f"{archive}: file {name!r} {why}")
            try:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with (folder / name).open("xb") as file:
                    digests[name] = tar.content(size, file)
            except (FileExistsError, NotADirectoryError):
                raise RecordError(f"{archive}: {name!r} is a file and a folder") from None
    return digests


class _Tar:
    """A sequential reader of a compressed tar."""

    def __init__(self, archive: Path, packed: BufferedReader, limits: Limits) -> None:
        self._archive, self._packed, self._limits = archive, packed, limits
        self._xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, MEMORY_BYTES)
        size = packed.seek(0, 2)
        packed.seek(0)
        self._allowed_bytes = min(limits.total_bytes, limits.small_bytes + limits.ratio * size)

    def entry(self) -> tuple[str, int] | None:
        """Return name and size of the next file; None at the end, which nothing may follow."""
        header = self._read(tarfile.BLOCKSIZE)
        if not any(header):
            rest = self._read(tarfile.BLOCKSIZE)
            if any(rest) or self._has_more():
                raise self._fault("goes on after its end")
            return None
        try:
            entry = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError):
            raise self._fault("is no tar") from None
        name = entry.name
        if not entry.isreg():
            kind = KINDS.get(entry.type, "no file")
            raise self._fault(f"{name!r} is {kind}, and a bundle has files alone")
        if not _is_inside(name):
            raise self._fault(f"{name!r} is no name of a file inside a folder")
        if entry.size > self._limits.file_bytes:
            raise self._fault(f"{name!r} has more than {amount(self._limits.file_bytes, 'byte')}")
        if header != _header(name, entry.size):
            raise self._fault(f"{name!r} is not as mqperf writes it")
        return name, entry.size

    def content(self, size: int, out: BinaryIO) -> str:
        """Write the next ``size`` bytes to ``out``, and return their sha256."""
        digest = hashlib.sha256()
        for start in range(0, size, BLOCK):
            block = self._read(min(BLOCK, size - start))
            digest.update(block)
            out.write(block)
        if any(self._read(-size % tarfile.BLOCKSIZE)):
            raise self._fault("has something between its files")
        return digest.hexdigest()

    def _read(self, count: int) -> bytes:
        self._allowed_bytes -= count
        if self._allowed_bytes < 0:
            raise self._fault("unpacks to far more than its size, or than a bundle may have")
        content = bytearray()
        while len(content) < count and (block := self._unpacked(count - len(content))) is not None:
            content += block
        if len(content) < count:
            raise self._fault("is cut short")
        return bytes(content)

    def _has_more(self) -> bool:
        """Return whether anything follows the end of the tar, inside or after the xz stream."""
        while (block := self._unpacked(1)) is not None:
            if block:
                return True
        return bool(self._xz.unused_data or self._packed.read(1))

    def _unpacked(self, most: int) -> bytes | None:
        """Return up to ``most`` bytes, perhaps none before the end; None at the end of the xz."""
        if self._xz.eof:
            return None
        packed = self._packed.read(BLOCK) if self._xz.needs_input else b""
        if self._xz.needs_input and not packed:
            raise self._fault("is cut short")
        try:
            return self._xz.decompress(packed, most)
        except lzma.LZMAError:
            raise self._fault("is no archive in xz, or a damaged one") from None

    def _fault(self, why: str) -> RecordError:
        return RecordError(f"{self._archive}: {why}: nothing of it is used; get it again")


def _header(name: str, size: int) -> bytes:
    """Return the header of a file: no owner, no time, readable for all."""
    entry = tarfile.TarInfo(name)
    entry.size = size
    try:
        return entry.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
    except ValueError:
        raise RecordError(f"{name}: its name is too long for a bundle") from None


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        name.isprintable()
        and "\\" not in name
        and not path.is_absolute()
        and ".." not in path.parts
        and name == str(path) != "."
    )
