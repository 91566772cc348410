"""The timetable of a run: the actions of its case, each begun and undone at its instant."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from mqperf.base.errors import MqperfError, SystemFault
from mqperf.hosts import Host
from mqperf.lab.actions import ACTIONS, Action, ActionFacts, Target
from mqperf.lab.systems import Deployment, Node
from mqperf.plan import ActionPlan

if TYPE_CHECKING:
    from mqperf.lab.actions.action import Sign
    from mqperf.lab.links import Cable

Tell = Callable[..., None]
"""Takes what happened, and figures about it by name."""


@dataclass(order=True, slots=True)
class Entry:
    """Something to do at an instant, in epoch seconds; what is undone comes first."""

    at: float
    rank: int
    do: Callable[[], None] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the actions of a run take place.

    ``files`` are the contents of the files that they name; ``keep`` takes what is to be kept of
    them in the run folder, by its name there.
    """

    deployment: Deployment
    hosts: Sequence[Host] = ()
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    keep: Callable[[str, bytes], None] = lambda _name, _content: None


class Timetable:
    """The actions of one run.  ``close`` undoes what is not undone yet, whatever happened.

    ``follow`` is called when a node is another process than before.  ``link`` is that of the run,
    from when it is there; so are ``addresses``, to which its loads connect, and ``sign``, which
    tells of signs of the load.
    """

    def __init__(
        self,
        actions: Sequence[ActionPlan],
        stage: Stage,
        tell: Tell,
        follow: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with nothing done."""
        self._stage = stage
        self._tell = tell
        self._follow = follow
        self._actions = actions
        self.link: Cable | None = None
        self.addresses: frozenset[str] = frozenset()
        self.sign: Sign = lambda _name, _since: None
        self._entries: list[Entry] = []
        self._undoing: dict[int, ExitStack] = {}
        self._action_facts: dict[int, ActionFacts] = {}
        self._prepared: dict[int, object] = {}
        self._held = ExitStack()

    def check(self) -> None:
        """Raise ``SystemFault`` for what is not there, or cannot be disturbed."""
        for number, action in enumerate(self._actions, 1):
            _kind(action).check(self._target(number, action))

    def prepare(self) -> None:
        """Do all that takes time before the load starts; ``close`` takes it back."""
        for number, action in enumerate(self._actions, 1):
            context = _kind(action).prepared(self._target(number, action))
            self._prepared[number] = self._held.enter_context(context)

    def begin(self, window: float) -> None:
        """Fix the instants: the measured window starts at ``window``, in epoch seconds."""
        for number, action in enumerate(self._actions, 1):
            begins = window + action.at_s
            self._add(Entry(begins, 1, partial(self._start, number, action, begins)))

    def _add(self, entry: Entry) -> None:
        self._entries = sorted([*self._entries, entry])

    @property
    def due(self) -> float:
        """The instant of the next entry; infinite when there is none left."""
        return self._entries[0].at if self._entries else inf

    @property
    def renews(self) -> bool:
        """Whether it ends or parts nodes: the system is another one then, with other roles."""
        return any(_kind(action).renews for action in self._actions)

    @property
    def disturbed(self) -> set[str]:
        """Labels of the nodes that are under an action now."""
        actions = (self._actions[number - 1] for number in self._undoing)
        return {action.node for action in actions if action.node is not None}

    def act(self) -> None:
        """Do everything that is due."""
        while self.due <= time.time():
            self._entries.pop(0).do()

    def close(self) -> None:
        """Undo all that is still going on; nothing more is done."""
        self._entries.clear()
        with self._held, ExitStack() as all_of_them:  # each, also when one cannot be written down
            for number in list(self._undoing):
                all_of_them.callback(self._end, number, self._actions[number - 1], time.time())

    def _target(self, number: int, action: ActionPlan) -> Target:
        """What it is done to, as it is now; raises ``SystemFault`` when that is not there."""
        stage = self._stage
        node = self._node(action) if action.node is not None else None
        host = self._host(action) if action.host is not None else node.host if node else None
        nodes = stage.deployment.nodes
        others = [other.host for other in nodes if other.host and other.label != action.node]
        return Target(
            action.target,
            _kind(action).parameters.model_validate(action.parameters),
            service=(node.service or node.process) if node else None,
            host=host,
            others=tuple({other.name: other for other in others}.values()),
            addresses=self.addresses,
            cable=self.link if action.link else None,
            files=stage.files,
            keep=lambda name, content: stage.keep(f"{number}-{name}", content),
            prepared=self._prepared.get(number),
            sign=self.sign,
        )

    def _node(self, action: ActionPlan) -> Node:
        nodes = {node.label: node for node in self._stage.deployment.nodes}
        if action.node not in nodes:
            raise SystemFault(
                f"{action.do}: the system has no node {action.node!r}; it has: {', '.join(nodes)}"
            )
        return nodes[action.node]

    def _host(self, action: ActionPlan) -> Host:
        hosts = {host.name: host for host in self._stage.hosts}
        if action.host not in hosts:
            raise SystemFault(
                f"{action.do}: there is no host {action.host!r}; there are: {', '.join(hosts)}"
            )
        return hosts[action.host]

    def _start(self, number: int, action: ActionPlan, commanded: float) -> None:
        self._undoing[number] = ExitStack()  # known before it begins: it may be interrupted
        applied = _kind(action).applied(self._target(number, action))
        facts = self._action_facts[number] = self._undoing[number].enter_context(applied)
        commanded = float(str(facts.pop("commanded", commanded)))
        self._record("action-began", number, commanded)
        ends = commanded + action.for_s
        self._add(Entry(ends, 0, partial(self._end, number, action, ends)))

    def _end(self, number: int, action: ActionPlan, commanded: float) -> None:
        facts = self._action_facts.pop(number, {})
        try:
            self._undoing[number].close()
        except MqperfError as error:
            facts["failure"] = str(error)
            raise
        finally:
            del self._undoing[number]
            self._record("action-ended", number, commanded, **facts)
        if _kind(action).renews:
            self._follow()

    def _record(self, what: str, number: int, commanded: float, **facts: object) -> None:
        """Write down what has happened by now."""
        action, more = self._actions[number - 1], {"commanded": commanded, "observed": time.time()}
        self._tell(what, number=number, action=action.do, node=action.target, **more, **facts)


def _kind(action: ActionPlan) -> Action:
    return ACTIONS[action.do]
