"""Folders over a channel, in pieces, of which several are on their way at once.

Small files go many in a piece: each for itself would cost more than its bytes.
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
    """Where the pieces of a file begin; an empty file has one."""
    yield from range(0, max(size, 1), PIECE_BYTES)


def push(channel: Channel, folder: Path, there: Path) -> None:
    """Copy a folder to a host, with the modes of its files; links are followed."""
    if not folder.is_dir():
        raise HostError(f"{folder}: there is no such folder to copy to {channel.name}")
    for _ in _answers(channel, _pushed(channel, folder, there)):
        pass


def _pushed(channel: Channel, folder: Path, there: Path) -> Iterator[Future[Answer]]:
    """Requests that copy a folder."""
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
                    yield from _written(channel, content, there / name, mode)
                    continue
                data += (small := content.read())
            heads.append((name, mode, len(small)))
            if len(data) >= PIECE_BYTES:
                yield channel.ask("write_all", bytes(data), path=str(there), heads=heads)
                heads, data = [], bytearray()
    if heads:
        yield channel.ask("write_all", bytes(data), path=str(there), heads=heads)


def write(channel: Channel, path: Path, content: bytes, mode: int) -> None:
    """Write a file on a host, and the folders that lead to it; it appears whole."""
    for _ in _answers(channel, _written(channel, io.BytesIO(content), path, mode)):
        pass


def _written(
    channel: Channel, content: BinaryIO, path: Path, mode: int
) -> Iterator[Future[Answer]]:
    """Requests that write a file, in pieces where it is large; the agent does them in turn."""
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
    """The content of a file from a position on, as long as it was when we asked first."""
    size: int = channel.call("size", path=str(path))
    requests = (
        channel.ask("read", path=str(path), start=start + at, longest=PIECE_BYTES)
        for at in pieces(size - start)
    )
    return b"".join(answer.data for answer in _answers(channel, requests))


def fetch(channel: Channel, there: Path, folder: Path) -> None:
    """Copy a folder from a host; files that grow meanwhile are cut where they were.

    Links and devices are left out.  Raises ``HostError`` for names that lead elsewhere.
    """
    listed: list[tuple[str, int]] = channel.call("listing", path=str(there))
    for name, _ in listed:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise HostError(f"{channel.name}: {name!r} is no name of a file in {there}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, _ in listed:
        goal = folder / name
        (goal if name.endswith("/") else goal.parent).mkdir(parents=True, exist_ok=True)
    places = [
        (name, start, min(PIECE_BYTES, size - start))
        for name, size in listed
        if not name.endswith("/")
        for start in pieces(size)
    ]
    requests = (
        channel.ask("read", path=str(there / name), start=start, longest=longest)
        for name, start, longest in places
    )
    for (name, start, _), answer in zip(places, _answers(channel, requests), strict=True):
        with (folder / name).open("r+b" if start else "wb") as file:
            file.seek(start)
            file.write(answer.data)


def _answers(channel: Channel, requests: Iterable[Future[Answer]]) -> Iterator[Answer]:
    """Answers in the order of the requests, of which a few wait at a time."""
    waiting: deque[Future[Answer]] = deque()
    for request in requests:
        waiting.append(request)
        if len(waiting) >= AT_ONCE:
            yield channel.answer(waiting.popleft())
    while waiting:
        yield channel.answer(waiting.popleft())
