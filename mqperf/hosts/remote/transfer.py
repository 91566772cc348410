"""Transfer of folders over a channel, in pieces, several of which are in flight at once.

Many small files share one piece: a request per file would cost more than its bytes.
"""

import io
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from mqperf.base.errors import HostError
from mqperf.hosts.remote.channel import Answer, Channel

PIECE_BYTES = 1 << 20
AT_ONCE = 16


def pieces(size: int) -> Iterator[int]:
    """Yield the offsets of the pieces of a file; an empty file has one piece."""
    yield from range(0, max(size, 1), PIECE_BYTES)


def push(channel: Channel, folder: Path, there: Path) -> None:
    """Copy a folder to a host, with the modes of its files; links are followed."""
    if not folder.is_dir():
        raise HostError(f"{folder}: there is no such folder to copy to {channel.name}")
    for _ in _answers(channel, _push_requests(channel, folder, there)):
        pass


def _push_requests(channel: Channel, folder: Path, there: Path) -> Iterator[Future[Answer]]:
    """Send the requests that copy a folder, and yield each."""
    yield channel.ask("make_all", path=str(there))
    heads: list[tuple[str, int, int]] = []
    data = bytearray()
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if file.is_dir():
            yield channel.ask("make_all", path=str(there / name))
        elif file.is_file():
            with file.open("rb") as content:
                status = os.fstat(content.fileno())
                mode = status.st_mode & 0o777
                if status.st_size >= PIECE_BYTES:
                    yield from _write_requests(channel, content, there / name, mode)
                    continue
                data += (small := content.read())
            heads.append((name, mode, len(small)))
            if len(data) >= PIECE_BYTES:
                yield channel.ask("write_all", bytes(data), path=str(there), heads=heads)
                heads, data = [], bytearray()
    if heads:
        yield channel.ask("write_all", bytes(data), path=str(there), heads=heads)


def write(channel: Channel, path: Path, content: bytes, mode: int) -> None:
    """Write a file on a host atomically, and create missing parent folders."""
    for _ in _answers(channel, _write_requests(channel, io.BytesIO(content), path, mode)):
        pass


def _write_requests(
    channel: Channel, content: BinaryIO, path: Path, mode: int
) -> Iterator[Future[Answer]]:
    """Send the requests that write a file, in order, in pieces if it is large; yield each."""
    piece = content.read(PIECE_BYTES)
    if len(piece) < PIECE_BYTES:
        yield channel.ask("write", piece, path=str(path), mode=mode)
        return
    start = 0
    while piece:
        yield channel.ask("write_part", piece, path=str(path), start=start)
        start += len(piece)
        piece = content.read(PIECE_BYTES)
    yield channel.ask("finish", path=str(path), mode=mode)


def read(channel: Channel, path: Path, start: int) -> bytes:
    """Return the content of a file from byte ``start`` on, up to its size when called."""
    size: int = channel.call("size", path=str(path))
    requests = (
        channel.ask("read", path=str(path), start=start + at, longest=PIECE_BYTES)
        for at in pieces(size - start)
    )
    return b"".join(answer.data for answer in _answers(channel, requests))


def fetch(channel: Channel, there: Path, folder: Path) -> None:
    """Copy a folder from a host; files that grow meanwhile are copied up to their initial size.

    Links and devices are skipped.  Raises ``HostError`` for names that lead out of the folder.
    """
    listed: list[tuple[str, int]] = channel.call("listing", path=str(there))
    for name, _ in listed:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise HostError(f"{channel.name}: {name!r} is no name of a file in {there}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, _ in listed:
        target = folder / name
        (target if name.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
    file_pieces = [
        (name, start, min(PIECE_BYTES, size - start))
        for name, size in listed
        if not name.endswith("/")
        for start in pieces(size)
    ]
    requests = (
        channel.ask("read", path=str(there / name), start=start, longest=longest)
        for name, start, longest in file_pieces
    )
    for (name, start, _), answer in zip(file_pieces, _answers(channel, requests), strict=True):
        with (folder / name).open("r+b" if start else "wb") as file:
            file.seek(start)
            file.write(answer.data)


def _answers(channel: Channel, requests: Iterable[Future[Answer]]) -> Iterator[Answer]:
    """Yield the answers in the order of the requests, of which ``AT_ONCE`` are in flight."""
    in_flight: deque[Future[Answer]] = deque()
    for request in requests:
        in_flight.append(request)
        if len(in_flight) >= AT_ONCE:
            yield channel.answer(in_flight.popleft())
    while in_flight:
        yield channel.answer(in_flight.popleft())
