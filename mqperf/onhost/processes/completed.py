"""Programs that are run to their end, with their output."""

import os
import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from mqperf.onhost.errors import HostError
from mqperf.onhost.processes.child_handle import started, starting

BLOCK = 1 << 16


def completed(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, limit_s: float | None
) -> tuple[int, str, str]:
    """Run a program to its end, and end its descendants, too; return exit code, output, errors.

    ``env`` and ``cwd`` None are those of this process.  Raises ``HostError`` when it is missing, or
    has not ended after ``limit_s`` seconds.
    """
    deadline = None if limit_s is None else time.monotonic() + limit_s
    with ExitStack() as stack:
        null = stack.enter_context(Path(os.devnull).open("rb"))
        (output, stdout), (errors, stderr) = (stack.enter_context(pipe()) for _ in range(2))
        with starting(argv, env):
            handle = started(argv, env, cwd, [file.fileno() for file in (null, stdout, stderr)])
        stack.callback(handle.end)
        stdout.close()
        stderr.close()
        outputs = _read((output, errors), deadline)
        code = handle.wait(_remaining_s(deadline))
        if outputs is None or code is None:
            command = " ".join(map(str, argv[:2]))
            raise HostError(f"{command} did not end within {limit_s:g} s")
        return code, *outputs


@contextmanager
def pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Open a pipe: its reading end, and its writing end without a buffer."""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as output, os.fdopen(write, "wb", 0) as feed:
        yield output, feed


def _read(outputs: tuple[BinaryIO, BinaryIO], deadline: float | None) -> tuple[str, str] | None:
    """Read both outputs to their end; None when the deadline passes first."""
    content = {output.fileno(): bytearray() for output in outputs}
    with selectors.DefaultSelector() as selector:
        for output in outputs:
            selector.register(output, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(_remaining_s(deadline))
            if not ready and deadline is not None and time.monotonic() >= deadline:
                return None
            for key, _ in ready:
                block = os.read(key.fd, BLOCK)
                content[key.fd] += block
                if not block:
                    selector.unregister(key.fileobj)
    first, second = (text.decode(errors="replace") for text in content.values())
    return first, second


def _remaining_s(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())
