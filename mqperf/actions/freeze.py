"""Freeze: a node stands still while its connections stay open, as in a pause of its machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.actions.action import Action, Target
from mqperf.errors import SystemFault
from mqperf.hosts import Process


def check(label: str, target: Target) -> None:
    """Raise ``SystemFault`` for a node that mqperf did not start."""
    if not isinstance(target, Process):
        raise SystemFault(
            f"freeze: {label} was not started by mqperf, which signals no process of others;"
            " leave the action out, or let mqperf start the system"
        )


@contextmanager
def applied(target: Target) -> Iterator[None]:
    """Stop every process of a node (SIGSTOP), and let them go on (SIGCONT)."""
    if isinstance(target, Process):
        try:
            target.suspend()
            yield
        finally:
            target.resume()


ACTION = Action("freeze", "stopped (SIGSTOP) and continued (SIGCONT)", check, applied)
