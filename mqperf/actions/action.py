"""What an action is to the runner: something done to nodes of the system under test, and undone."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from mqperf.hosts import Watched

Target = Watched | None
"""The process of a node, if it runs where we can see it."""


@dataclass(frozen=True, slots=True)
class Action:
    """A kind of action.

    ``title`` says what happens to a node, in the past tense.  ``check`` raises ``SystemFault`` for
    a node to which it cannot be done.  ``applied`` does it to a node's process on entering and
    undoes it on leaving, whatever happened meanwhile.
    """

    name: str
    title: str
    check: Callable[[str, Target], None]
    applied: Callable[[Target], AbstractContextManager[None]]
