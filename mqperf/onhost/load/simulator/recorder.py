"""Exact record of every message, beside the simulator's own per-second statistics.

The simulator keeps messages for one second and then only their sums.  Here the instants of each
are recorded: 24 bytes per CALL at the client, 16 per message at the server; at an offered rate 56
and 16, and for messages without replies 24 and 32.
"""

import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Protocol

from mqperf.onhost.load.record import Record

CLIENT_TS, SERVER_TS, RETURN_TS = 2, 3, 4
"""Positions in the simulator's ``Message`` tuple."""

SENT = 0
"""Position of the instant of sending, where messages are timed from when they were due."""

STREAMS = {"client": "sent", "round": "round_trip", "error": "error", "server": "received"}
"""Stream by the first word of a collector's label, as in ``round-trip-7``."""

PARTS = {"sent": "handover", "received": "service", "round_trip": "service"}
"""Stream of a part of the latency, by the stream whose messages contain it."""

Push = Callable[[Sequence[Any]], None]


class Collector(Protocol):
    """The part of the simulator's statistics collector that recording needs."""

    buffer: list[object]
    push: Push


class Recorder(Record):
    """The record, and the simulator's own statistics of the same messages."""

    def __init__(self, header: dict[str, object], streams: Sequence[str]) -> None:
        super().__init__(header, streams)
        self.buffers: list[list[object]] = []

    @property
    def unreported(self) -> bool:
        """Whether the simulator's own statistics have yet to process some messages."""
        return any(self.buffers)

    def push(self, label: str, buffer: list[object]) -> Push:
        """Return a collector's ``push``, which keeps the message and also records its instants."""
        self.buffers.append(buffer)
        stream = STREAMS[label.partition("-")[0]]
        keep: Push = buffer.append
        end = RETURN_TS if label[0] == "r" else SERVER_TS
        if (part := PARTS.get(stream)) in self.streams:
            first, last = self.streams[part]
            positions = (CLIENT_TS, SENT) if stream == "sent" else (SENT, end)
            keep = _push_both(keep, first.append, last.append, *positions)
        started, *rest = (column.append for column in self.streams[stream])
        if not rest:
            return _push_sent(keep, started)
        if stream == "error":
            return _push_error(keep, started, rest[0])
        return _push_both(keep, started, rest[0], CLIENT_TS, end)


def record(simulator: ModuleType, recorder: Recorder) -> None:
    """Give every collector that the simulator makes from now on a recording ``push``."""
    collector = simulator.MessageStatsCollector
    init = collector.__init__

    def recording_init(self: Collector, label: str) -> None:
        init(self, label)
        self.push = recorder.push(label, self.buffer)

    collector.__init__ = recording_init


def _push_sent(keep: Callable[[Any], None], started: Callable[[float], None]) -> Push:
    def push(message: Sequence[Any]) -> None:
        keep(message)
        started(message[CLIENT_TS])

    return push


def _push_error(
    keep: Callable[[Any], None], started: Callable[[float], None], finished: Callable[[float], None]
) -> Push:
    def push(message: Sequence[Any]) -> None:
        keep(message)
        started(message[CLIENT_TS])
        finished(time.time())

    return push


def _push_both(
    keep: Callable[[Any], None],
    started: Callable[[float], None],
    finished: Callable[[float], None],
    begin: int,
    end: int,
) -> Push:
    def push(message: Sequence[Any]) -> None:
        keep(message)
        started(message[begin])
        finished(message[end])

    return push
