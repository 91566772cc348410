"""Freeze: a node is stopped while its connections stay open, as in a pause of its machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.base.errors import SystemFault
from mqperf.hosts import Process, Restartable
from mqperf.lab.actions.action import Action, ActionFacts, Target


def check(target: Target) -> None:
    """Raise ``SystemFault`` for a node that mqperf did not start."""
    if _process(target) is None:
        raise SystemFault(
            f"freeze: {target.label} was not started by mqperf, which signals only its own"
            " processes; leave the action out, or let mqperf start the system"
        )


@contextmanager
def applied(target: Target) -> Iterator[ActionFacts]:
    """Stop every process of a node (SIGSTOP), and let them go on (SIGCONT)."""
    if (process := _process(target)) is not None:
        try:
            process.suspend()
            yield {}
        finally:
            process.resume()


def _process(target: Target) -> Process | None:
    """Return the process to signal, None if mqperf did not start it."""
    service = target.service
    process = service.process if isinstance(service, Restartable) else service
    return process if isinstance(process, Process) else None


ACTION = Action("freeze", "stopped (SIGSTOP) and continued (SIGCONT)", check, applied)
