"""Servers report how many messages they have received, and the sum of latencies, under load."""

from collections.abc import Callable
from operator import sub

from .control import Control
from .record import Record

COUNT_EVERY_S = 0.2


def report(control: Control, record: Record, running: Callable[[], bool]) -> None:
    """Publish both sums from a native thread, since green ones starve for seconds under load."""
    import eventlet

    native = eventlet.patcher.original
    sleep, monotonic = native("time").sleep, native("time").monotonic
    started, finished = record.streams["received"]

    def publish() -> None:
        count, took_s = 0, 0.0
        while running():
            now = len(finished)
            took_s += sum(map(sub, finished[count:now], started[count:now]))
            count = now
            control.say("count", f"{count} {took_s:.6f} {monotonic():.6f}")
            sleep(COUNT_EVERY_S)

    native("threading").Thread(target=publish, daemon=True).start()
