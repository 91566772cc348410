"""An action: a node gets a signal that it does not heed, when it begins and when it ends."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.actions import Action
from mqperf.actions.action import Target
from mqperf.errors import SystemFault
from mqperf.hosts import Process


def check(label: str, target: Target) -> None:
    """Raise ``SystemFault`` for a node that mqperf did not start."""
    if not isinstance(target, Process):
        raise SystemFault(f"poke: {label} was not started by mqperf; leave the action out")


@contextmanager
def applied(target: Target) -> Iterator[None]:
    """Send SIGWINCH, twice."""
    if isinstance(target, Process):
        target.signal(signal.SIGWINCH)
        yield
        target.signal(signal.SIGWINCH)


ACTION = Action("poke", "sent a signal that it does not heed", check, applied)
