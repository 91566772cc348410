"""The files of a background sweep, in ``RUNS/.sweep``, which only its user can read."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mqperf.base import raw
from mqperf.base.errors import RecordError
from mqperf.record import disk_errors


@dataclass(frozen=True, slots=True)
class SweepFiles:
    """The files of the last background sweep of a runs folder."""

    runs: Path

    @property
    def log(self) -> Path:
        """Its output, line by line; locked while it runs."""
        return self.runs / ".sweep" / "log"

    @property
    def page(self) -> Path:
        """The file with the URL of its live page, including the token."""
        return self.log.with_name("page")

    @property
    def end(self) -> Path:
        """The file that it writes at its end, with ``trouble``."""
        return self.log.with_name("end")

    @property
    def running(self) -> bool:
        """Whether it runs; the lock is released whenever the process ends."""
        try:
            with raw.opened(self.log) as log:
                fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except (OSError, RecordError):
            pass
        return False

    @property
    def trouble(self) -> str:
        """The reason why the last sweep ended early, or runs failed; empty if all went well."""
        try:
            return self.end.read_text(encoding="utf-8")
        except FileNotFoundError:
            killed = "it was killed, or the machine was restarted; start it again for the rest"
            return killed if self.log.exists() else ""

    @contextmanager
    def taken(self) -> Iterator[BinaryIO]:
        """Yield the empty log of a new sweep, locked; a process that inherits it keeps the lock.

        Raises ``RecordError`` if a background sweep is running into the folder.
        """
        with disk_errors(self.runs):
            self.runs.mkdir(parents=True, exist_ok=True)
            self.log.parent.mkdir(mode=0o700, exist_ok=True)
            log = self.log.open("ab")
        with log:
            try:
                fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RecordError(f"{self.runs}: a sweep is running already") from None
            log.truncate(0)
            for file in (self.page, self.end):
                file.unlink(missing_ok=True)
            yield log
