"""Programs that we talk with while they run."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, BinaryIO

from mqperf.onhost.processes.child_handle import ChildHandle, started, starting
from mqperf.onhost.processes.completed import pipe


@dataclass(frozen=True, slots=True)
class Piped:
    """A program that runs: what it reads, what it prints, and what it complains about."""

    link: ChildHandle
    feed: BinaryIO
    output: BinaryIO
    _errors: IO[bytes]

    def complaints(self) -> str:
        """Everything that it has written to its standard error so far."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


@contextmanager
def piped(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Iterator[Piped]:
    """Run ``argv`` for as long as the block lasts; it ends with us, however we end.

    ``env`` None inherits ours.  Raises ``HostError`` when the program is missing.
    """
    with ExitStack() as stack:
        (theirs_in, feed), (output, theirs_out) = (stack.enter_context(pipe()) for _ in range(2))
        errors = stack.enter_context(tempfile.TemporaryFile())
        with starting(argv, env):
            files = [theirs_in.fileno(), theirs_out.fileno(), errors.fileno()]
            link = started(argv, env, None, files)
        stack.callback(link.end)
        theirs_in.close()
        theirs_out.close()
        yield Piped(link, feed, output, errors)
