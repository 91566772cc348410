"""The timetable of a run: the actions of its case, each begun and undone at its instant."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from math import inf

from mqperf.actions import ACTIONS
from mqperf.errors import SystemFault
from mqperf.plan import ActionPlan
from mqperf.systems import Node

Tell = Callable[..., None]
"""Takes what happened, and figures about it by name."""


@dataclass(order=True, slots=True)
class Step:
    """Something to do at an instant, in epoch seconds; what is undone comes first."""

    at: float
    rank: int
    do: Callable[[], None] = field(compare=False)


class Timetable:
    """The actions of one run.  ``close`` undoes what is not undone yet, whatever happened."""

    def __init__(self, actions: Sequence[ActionPlan], nodes: Sequence[Node], tell: Tell) -> None:
        """Begin with nothing done."""
        self._nodes = {node.label: node for node in nodes}
        self._tell = tell
        self._actions = actions
        self._steps: list[Step] = []
        self._undoing: dict[int, ExitStack] = {}

    def check(self) -> None:
        """Raise ``SystemFault`` for a node that the system has not, or that cannot be disturbed."""
        for action in self._actions:
            if action.node not in self._nodes:
                raise SystemFault(
                    f"{action.do}: the system has no node {action.node!r};"
                    f" it has: {', '.join(self._nodes)}"
                )
            ACTIONS[action.do].check(action.node, self._nodes[action.node].process)

    def begin(self, window: float) -> None:
        """Fix the instants: the measured window starts at ``window``, in epoch seconds."""
        for number, action in enumerate(self._actions, 1):
            begins, ends = window + action.at_s, window + action.at_s + action.for_s
            self._steps += [
                Step(begins, 1, partial(self._start, number, action, begins)),
                Step(ends, 0, partial(self._end, number, action, ends)),
            ]
        self._steps.sort()

    @property
    def due(self) -> float:
        """The instant of the next step; infinite when there is none left."""
        return self._steps[0].at if self._steps else inf

    @property
    def disturbed(self) -> set[str]:
        """Labels of the nodes that are under an action now."""
        return {self._actions[number - 1].node for number in self._undoing}

    def act(self) -> None:
        """Take every step that is due."""
        while self.due <= time.time():
            self._steps.pop(0).do()

    def close(self) -> None:
        """Undo all that is still going on; nothing more is done."""
        self._steps.clear()
        with ExitStack() as all_of_them:  # the others, too, when one cannot be written down
            for number in list(self._undoing):
                all_of_them.callback(self._end, number, self._actions[number - 1], time.time())

    def _start(self, number: int, action: ActionPlan, commanded: float) -> None:
        node = self._nodes[action.node]
        self._undoing[number] = ExitStack()  # known before it begins: it may be interrupted
        self._undoing[number].enter_context(ACTIONS[action.do].applied(node.process))
        observed = time.time()
        self._record("action-began", number, action, commanded, observed)

    def _end(self, number: int, action: ActionPlan, commanded: float) -> None:
        self._undoing[number].close()
        observed = time.time()
        del self._undoing[number]
        self._record("action-ended", number, action, commanded, observed)

    def _record(
        self, what: str, number: int, action: ActionPlan, commanded: float, observed: float
    ) -> None:
        self._tell(
            what,
            number=number,
            action=action.do,
            node=action.node,
            commanded=commanded,
            observed=observed,
        )
