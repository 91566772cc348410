"""An action: it sends a node an ignored signal when it begins and when it ends."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.base.errors import SystemFault
from mqperf.hosts import Process
from mqperf.lab.actions import Action, ActionFacts, Target


def check(target: Target) -> None:
    """Raise ``SystemFault`` for a node that mqperf did not start."""
    if not isinstance(target.service, Process):
        raise SystemFault(f"poke: {target.label} was not started by mqperf; leave the action out")


@contextmanager
def applied(target: Target) -> Iterator[ActionFacts]:
    """Send SIGWINCH at the beginning and at the end."""
    if isinstance(target.service, Process):
        target.service.signal(signal.SIGWINCH)
        yield {}
        target.service.signal(signal.SIGWINCH)


ACTION = Action("poke", "sent a signal that it does not heed", check, applied)
