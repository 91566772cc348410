"""What is common to actions on the link of a run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydantic import BaseModel

from mqperf.base.errors import SystemFault
from mqperf.lab.actions.action import Action, ActionFacts, NoParameters, Target
from mqperf.lab.links import Cable


def on_link(
    name: str,
    title: str,
    disturb: Callable[[Cable, BaseModel], None],
    parameters: type[BaseModel] = NoParameters,
    more: Callable[[Target], None] = lambda _target: None,
) -> Action:
    """Return an action that disturbs the link and restores it; ``more`` is an additional check."""

    def check(target: Target) -> None:
        _check(target)
        more(target)

    @contextmanager
    def applied(target: Target) -> Iterator[ActionFacts]:
        if (cable := target.cable) is not None:
            try:
                disturb(cable, target.parameters)
                yield {}
            finally:
                cable.restore()

    return Action(name, title, check, applied, on=("link",), parameters=parameters)


def _check(target: Target) -> None:
    """Raise ``SystemFault`` for a link that cannot be disturbed."""
    if target.cable is None:
        raise SystemFault(
            f"{target.label} is made by a backend that cannot interrupt it: leave the action out,"
            " or use another backend for links"
        )
