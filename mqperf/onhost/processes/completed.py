"""Programs that are run to their end, which say something meanwhile."""

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
    """Run a program to its end, and all that it started; its exit code, output and complaints.

    ``env`` and ``cwd`` None are ours.  Raises ``HostError`` when it is missing, or has not ended
    after ``limit_s`` seconds.
    """
    deadline = None if limit_s is None else time.monotonic() + limit_s
    with ExitStack() as stack:
        nothing = stack.enter_context(Path(os.devnull).open("rb"))
        (output, stdout), (complaints, stderr) = (stack.enter_context(pipe()) for _ in range(2))
        with starting(argv, env):
            link = started(argv, env, cwd, [end.fileno() for end in (nothing, stdout, stderr)])
        stack.callback(link.end)
        stdout.close()
        stderr.close()
        outputs = _read((output, complaints), deadline)
        code = link.wait(_left(deadline))
        if outputs is None or code is None:
            words = " ".join(map(str, argv[:2]))
            raise HostError(f"{words} did not end within {limit_s:g} s")
        return code, *outputs


@contextmanager
def pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The reading and the writing end of a pipe; what is written is not buffered."""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as output, os.fdopen(write, "wb", 0) as feed:
        yield output, feed


def _read(outputs: tuple[BinaryIO, BinaryIO], deadline: float | None) -> tuple[str, str] | None:
    """Both outputs to their end; None when the deadline passes first."""
    content = {output.fileno(): bytearray() for output in outputs}
    with selectors.DefaultSelector() as selector:
        for output in outputs:
            selector.register(output, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(_left(deadline))
            if not ready and deadline is not None and time.monotonic() >= deadline:
                return None
            for key, _ in ready:
                part = os.read(key.fd, BLOCK)
                content[key.fd] += part
                if not part:
                    selector.unregister(key.fileobj)
    first, second = (part.decode(errors="replace") for part in content.values())
    return first, second


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())
