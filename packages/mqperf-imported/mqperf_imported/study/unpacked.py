"""Reads files of other tools, compressed or not, up to a size limit."""

import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from mqperf.base.errors import RecordError, TableError
from mqperf.base.raw import TEXT_LIMIT_BYTES, content

Opener = Callable[[BinaryIO], BinaryIO]


def _zstandard(file: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd"))


UNPACKED: Mapping[str, Opener] = {
    "": lambda file: file,
    ".gz": lambda file: cast("BinaryIO", gzip.GzipFile(fileobj=file)),
    ".xz": lambda file: cast("BinaryIO", lzma.LZMAFile(file)),  # noqa: SIM115 (of bytes in memory)
    ".zst": _zstandard,
}
"""Decompression by the suffix of a file's name."""


def unpacked(file: Path, limit_bytes: int = TEXT_LIMIT_BYTES) -> bytes:
    """Return the content of a file, decompressed by its suffix.

    Raises ``TableError`` if it is damaged, not a regular file, or larger than ``limit_bytes``.
    """
    try:
        packed = BytesIO(content(file, limit_bytes))
        opener = UNPACKED[file.suffix if file.suffix in UNPACKED else ""]
        data = opener(packed).read(limit_bytes + 1)
    except RecordError as error:
        raise TableError(str(error)) from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowInvalid) as error:
        message = getattr(error, "strerror", None) or error
        raise TableError(f"{file}: cannot be read: {message}") from None
    if len(data) > limit_bytes:
        raise TableError(f"{file}: has more than {limit_bytes} bytes when unpacked")
    return bytes(data)


def present(folder: Path, name: str) -> Path | None:
    """Return the file of that name in a folder, compressed or not; None if there is none."""
    files = (folder / f"{name}{suffix}" for suffix in UNPACKED)
    return next((file for file in files if file.exists()), None)
