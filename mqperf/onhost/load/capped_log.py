"""A log that cannot fill the disk: the simulator prints whole messages for every failed call."""

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

LOG_BYTES = 1_000_000
TAIL_ENTRIES = 20
TAIL_WIDTH = 2000
LAST_WORDS = 10_000


class CappedLog:
    """A text stream that passes on ``limit`` bytes, and then keeps only the last entries."""

    def __init__(self, stream: TextIO, limit: int) -> None:
        self.stream = stream
        self.remaining = limit
        self.dropped = 0
        self.tail: deque[str] = deque(maxlen=TAIL_ENTRIES)

    def __getattr__(self, name: str) -> object:
        """Delegate all other attributes to the underlying stream."""
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write the text, or beyond the limit keep it among the last entries."""
        size = len(text.encode(errors="replace"))
        if self.remaining > 0:
            self.stream.write(text)
            self.remaining -= size
        elif not text.isspace():
            self.dropped += size
            self.tail.append(text)
        return len(text)

    def finish(self) -> None:
        """Write how much was dropped and its last entries, and allow a final traceback."""
        if self.dropped:
            self.stream.write(f"\n[log capped: {self.dropped} bytes dropped; the last of them:]\n")
            self.stream.writelines(f"{entry.rstrip()[:TAIL_WIDTH]}\n" for entry in self.tail)
        self.stream.flush()
        self.remaining = LAST_WORDS


@contextmanager
def capped_output() -> Iterator[None]:
    """Cap both outputs of this process together at ``LOG_BYTES``, plus the last entries."""
    log = CappedLog(sys.stdout, LOG_BYTES)
    vars(sys).update(stdout=log, stderr=log)
    try:
        yield
    finally:
        log.finish()
