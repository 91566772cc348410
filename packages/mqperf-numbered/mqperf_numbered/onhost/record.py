"""The counts of one process: messages in by the block, a ``.counts`` file out at the end.

Blocks are gathered until it pays to count them: a thousand messages at a time cost a tenth of what
ten at a time do.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost.tally import Tally

BATCH = 2048
"""Messages that are counted at once: enough to be cheap, and few enough to take below 1 ms."""

Instants = NDArray[np.float64]
Numbers = NDArray[np.int64]


STRANGER = -1
"""The place of whoever sent messages of no run, or of another."""


class Gathered:
    """Messages of one stream, of any senders, in the order in which they were seen."""

    def __init__(self, stream: str, *, timed: bool) -> None:
        self.stream = stream
        self.timed = timed
        self.sender = np.zeros(BATCH, dtype=np.int64)
        self.number = np.zeros(BATCH, dtype=np.int64)
        self.started = np.zeros(BATCH)
        self.finished = np.zeros(BATCH)
        self.length = 0

    def fill(
        self,
        sender: Numbers | int,
        number: Numbers,
        started: Instants | float,
        finished: Instants | float,
    ) -> None:
        """Take in some; there must be room for them."""
        part = slice(self.length, self.length + len(number))
        self.sender[part], self.number[part] = sender, number
        self.started[part], self.finished[part] = started, finished
        self.length = part.stop

    def count(self, tally: Tally, name: Callable[[int], str]) -> None:
        """Give all to the tally, sender by sender, and begin anew."""
        if not self.length:
            return
        span = slice(0, self.length)
        tally.count(self.stream, self.started[span], self.finished[span] if self.timed else None)
        sender, number = self.sender[span], self.number[span]
        if (sender == sender[0]).all():
            tally.see(self.stream, name(int(sender[0])), number)
        else:
            order = np.argsort(sender, kind="stable")
            for places in np.split(order, np.flatnonzero(np.diff(sender[order])) + 1):
                tally.see(self.stream, name(int(sender[places[0]])), number[places])
        self.length = 0


class Record:
    """All streams of this process; ``name`` gives what senders are called by their places."""

    def __init__(self, tally: Tally, name: Callable[[int], str]) -> None:
        self.tally = tally
        self.of_place = name
        self.streams = {
            name: Gathered(name, timed=stream.timed) for name, stream in tally.streams.items()
        }

    def name(self, place: int) -> str:
        """Who has that place."""
        return "stranger" if place == STRANGER else self.of_place(place)

    def add(
        self,
        stream: str,
        sender: Numbers | int,
        number: Numbers,
        started: Instants | float,
        finished: Instants | float = 0.0,
    ) -> None:
        """Take in messages of a stream; ``sender`` is the place of the name."""
        gathered, first = self.streams[stream], 0
        while first < len(number):
            part = slice(first, first + BATCH - gathered.length)
            gathered.fill(
                sender[part] if isinstance(sender, np.ndarray) else sender,
                number[part],
                started[part] if isinstance(started, np.ndarray) else started,
                finished[part] if isinstance(finished, np.ndarray) else finished,
            )
            first = part.stop
            if gathered.length == BATCH:
                gathered.count(self.tally, self.name)

    def missing(self, stream: str) -> int:
        """Numbers below the highest of each sender that were not seen in a stream."""
        self.streams[stream].count(self.tally, self.name)
        return self.tally.missing(stream)

    def save(self, path: Path) -> None:
        """Count what is left, and write the file."""
        for gathered in self.streams.values():
            gathered.count(self.tally, self.name)
        self.tally.save(path)
