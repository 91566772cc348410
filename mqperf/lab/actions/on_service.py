"""Actions that end a node and restart it at the end of the action."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.base.errors import SystemFault
from mqperf.hosts import Restartable
from mqperf.lab.actions.action import Action, ActionFacts, Target


def on_service(name: str, title: str, number: signal.Signals) -> Action:
    """Return an action that ends a node by a signal and restarts it."""

    def check(target: Target) -> None:
        if not isinstance(target.service, Restartable):
            raise SystemFault(
                f"{name}: {target.label} was not started by mqperf, which could not start it again;"
                " leave the action out, or let mqperf start the system"
            )

    @contextmanager
    def applied(target: Target) -> Iterator[ActionFacts]:
        if isinstance(service := target.service, Restartable):
            try:
                service.end(number)
                yield {}
            finally:
                service.start_again()

    return Action(name, title, check, applied, renews=True)


KILL = on_service("kill", "killed (SIGKILL) and started again", signal.SIGKILL)
"""The node ends at once, as in a power failure of its machine."""

STOP = on_service("stop", "asked to end (SIGTERM) and started again", signal.SIGTERM)
"""The node shuts down, as for maintenance; that may take longer than the plan's outage."""
