"""Files of other tools, packed or not: how each is unpacked, and how much of it at most."""

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
"""How files are read, by what is added to their names."""


def unpacked(file: Path, limit_bytes: int = TEXT_LIMIT_BYTES) -> bytes:
    """What is in the file, unpacked as its name says.

    Raises ``TableError`` for what is damaged, no regular file, or larger than ``limit_bytes``.
    """
    try:
        packed = BytesIO(content(file, limit_bytes))
        opener = UNPACKED[file.suffix if file.suffix in UNPACKED else ""]
        data = opener(packed).read(limit_bytes + 1)
    except RecordError as error:
        raise TableError(str(error)) from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowInvalid) as error:
        words = getattr(error, "strerror", None) or error
        raise TableError(f"{file}: cannot be read: {words}") from None
    if len(data) > limit_bytes:
        raise TableError(f"{file}: has more than {limit_bytes} bytes when unpacked")
    return bytes(data)


def present(folder: Path, name: str) -> Path | None:
    """The file of that name in a folder, packed or not; None where there is none."""
    files = (folder / f"{name}{end}" for end in UNPACKED)
    return next((file for file in files if file.exists()), None)
