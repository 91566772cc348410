"""An offered rate: messages are due on an absolute schedule, and their latency counts from then.

The simulator times a message from the instant that it carries, which here is when it was due.  In
place of its number, which the simulator does not read, it carries the instant of sending.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from types import ModuleType
from typing import Any, Protocol

from .clients import Gate

LOOK_S = 0.5
"""Longest single wait, after which the simulator checks whether to stop."""

MARGIN_S = 1
"""Longest time by which the simulator's own duration, which begins at a whole second of its host's
clock, begins before the agreed start."""


class Client(Protocol):
    """The part of the simulator's clients that is wrapped."""

    send_msg: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """The schedule of ``all_threads``, which take turns to send at each of the ``rates`` in order.

    Each rate lasts for ``step_s`` seconds, the last one until the end.  ``first`` is the number of
    this process's first thread among all.
    """

    rates: Sequence[float]
    all_threads: int
    first: int
    step_s: float = 0.0

    def dues(self, thread: int, start: float) -> Iterator[float]:
        """Yield when the messages of a thread of this process are due, in epoch seconds."""
        before = [0.0, *accumulate(rate * self.step_s for rate in self.rates[:-1])]
        step = 0
        for turn in count(self.first + thread, self.all_threads):
            while step + 1 < len(before) and turn >= before[step + 1]:
                step += 1
            yield start + step * self.step_s + (turn - before[step]) / self.rates[step]


class Turns:
    """The turns of one thread to send: overdue ones at once, and none from ``end`` on."""

    def __init__(self, dues: Iterator[float], end: float) -> None:
        self.dues, self.end = dues, end
        self.due = next(dues)

    def take(self) -> float | None:
        """Wait, at most ``LOOK_S``, and return when the message was due; None if it is not yet."""
        wait_s = min(self.due, self.end) - time.time()
        if wait_s > 0:
            time.sleep(min(wait_s, LOOK_S))
        if not self.due <= time.time() < self.end:
            return None
        taken, self.due = self.due, next(self.dues)
        return taken

    @property
    def ended(self) -> bool:
        """Whether there are no more turns."""
        return time.time() >= self.end


def keep_to(pace: Pace, simulator: ModuleType, gate: Gate) -> None:
    """Have the simulator's green threads send when messages are due, until the load ends."""
    make_message, send_messages = simulator.make_message, simulator.send_messages
    due = 0.0

    def make_due_message(_seq: int, cargo: str, sent: float) -> Any:  # noqa: ANN401 (its tuple)
        return make_message(sent, cargo, due)

    def in_turn(client: Client, turns: Turns) -> Client:
        send_msg = client.send_msg

        def send_when_due() -> None:
            nonlocal due
            if (taken := turns.take()) is not None:
                due = taken
                send_msg()
            elif turns.ended:
                vars(simulator)["IS_RUNNING"] = False

        client.send_msg = send_when_due
        return client

    def send_paced(thread: int, build: Callable[[], Client], messages: int, load_s: int) -> None:
        start = gate.start or 0.0
        turns = Turns(pace.dues(thread, start), start + load_s)
        send_messages(thread, lambda: in_turn(build(), turns), messages, load_s + MARGIN_S)

    vars(simulator).update(make_message=make_due_message, send_messages=send_paced)
