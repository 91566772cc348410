"""A log that cannot fill the disk: the simulator prints whole messages for every failed call."""

import io
from collections import deque
from typing import TextIO

TAIL_ENTRIES = 20
TAIL_WIDTH = 2000


class CappedLog(io.TextIOBase):
    """Passes text on until ``limit`` bytes, then keeps only the last entries for the end."""

    def __init__(self, stream: TextIO, limit: int) -> None:
        self.stream = stream
        self.remaining = limit
        self.dropped = 0
        self.tail: deque[str] = deque(maxlen=TAIL_ENTRIES)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        size = len(text.encode(errors="replace"))
        if self.remaining > 0:
            self.stream.write(text)
            self.remaining -= size
        elif not text.isspace():
            self.dropped += size
            self.tail.append(text)
        return len(text)

    def flush(self) -> None:
        self.stream.flush()

    def finish(self) -> None:
        """Say how much was dropped, and give the last entries of it."""
        if self.dropped:
            self.stream.write(f"\n[log capped: {self.dropped} bytes dropped; the last of them:]\n")
            self.stream.writelines(f"{entry.rstrip()[:TAIL_WIDTH]}\n" for entry in self.tail)
        self.stream.flush()
