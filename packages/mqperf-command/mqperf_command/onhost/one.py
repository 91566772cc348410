"""One command: started without a shell, in a process group that ends with it."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO

LONGEST = 300
"""Most characters of a command's last line that a log repeats."""


class Command:
    """A command line that is run repeatedly, several at a time."""

    def __init__(self, argv: Sequence[str], variables: Mapping[str, str], timeout_s: float) -> None:
        self._argv, self._variables, self._timeout_s = argv, variables, timeout_s
        self._running: set[int] = set()
        self._ended = False

    def run(self) -> str | None:
        """Run the command to its end; return None if it succeeded, else why it did not.

        Its output is dropped, except for the last line on its standard error.
        """
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    self._argv,
                    env={**os.environ, **self._variables},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                )
            except OSError as error:
                return f"{self._argv[0]}: {error.strerror}"
            return self._outcome(process, errors)

    def kill(self) -> None:
        """Kill all process groups that run or are just starting."""
        self._ended = True
        for group in tuple(self._running):
            _kill(group)

    def _outcome(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> str | None:
        self._running.add(process.pid)
        if self._ended:
            _kill(process.pid)
        try:
            code = process.wait(self._timeout_s)
        except subprocess.TimeoutExpired:
            _kill(process.pid)
            process.wait()
            return f"not at its end within {self._timeout_s} s"
        finally:
            self._running.discard(process.pid)
        return None if code == 0 else f"exit code {code}{_last_line(errors)}"


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _last_line(errors: IO[bytes]) -> str:
    """Return the last line of the file after a colon, or nothing, as the end of a sentence."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - 4 * LONGEST))
    lines = errors.read().decode("utf-8", errors="replace").split("\n")
    texts = [line.strip() for line in lines if line.strip()]
    return f": {texts[-1][:LONGEST]}" if texts else ""
