"""Actions that end a node, and start it again as soon as it has ended."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.base.errors import SystemFault
from mqperf.hosts import Restartable
from mqperf.lab.actions.action import Action, ActionFacts, Target


def on_service(name: str, title: str, number: signal.Signals) -> Action:
    """An action that ends a node by a signal, and starts it again."""

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
"""It ends at once, as when its machine loses its power."""

STOP = on_service("stop", "asked to end (SIGTERM) and started again", signal.SIGTERM)
"""As for maintenance; it may take longer to end than the plan has it down."""
