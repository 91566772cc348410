"""Programs that are controlled through pipes while they run."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, BinaryIO

from mqperf.onhost.processes.child_handle import ChildHandle, started, starting
from mqperf.onhost.processes.completed import pipe


@dataclass(frozen=True, slots=True)
class Piped:
    """A running program: its standard input (``feed``), output, and errors."""

    link: ChildHandle
    feed: BinaryIO
    output: BinaryIO
    _errors: IO[bytes]

    def complaints(self) -> str:
        """Return everything that it has written to its standard error so far."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


@contextmanager
def piped(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Iterator[Piped]:
    """Run ``argv`` for as long as the block lasts; it ends with this process, however that ends.

    ``env`` None inherits this environment.  Raises ``HostError`` when the program is missing.
    """
    with ExitStack() as stack:
        (child_in, feed), (output, child_out) = (stack.enter_context(pipe()) for _ in range(2))
        errors = stack.enter_context(tempfile.TemporaryFile())
        with starting(argv, env):
            files = [child_in.fileno(), child_out.fileno(), errors.fileno()]
            link = started(argv, env, None, files)
        stack.callback(link.end)
        child_in.close()
        child_out.close()
        yield Piped(link, feed, output, errors)
