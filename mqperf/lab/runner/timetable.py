"""The timetable of a run: the actions of its case, each begun and undone at its scheduled time."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from mqperf.base.closing import ChainedExitStack
from mqperf.base.errors import MqperfError, SystemFault
from mqperf.hosts import Host
from mqperf.lab.actions import ACTIONS, Action, ActionFacts, Target
from mqperf.lab.systems import Deployment, Node
from mqperf.plan import ActionPlan

if TYPE_CHECKING:
    from mqperf.lab.actions.action import Sign
    from mqperf.lab.links import Cable

LogEvent = Callable[..., None]
"""Records an event, given its name and its values by name."""


@dataclass(order=True, slots=True)
class Entry:
    """A step at an instant, in epoch seconds; at the same instant, undoing comes first."""

    at: float
    rank: int
    do: Callable[[], None] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Stage:
    """The deployment and the hosts on which the actions of a run are done.

    ``files`` are the contents of the files that actions name; ``keep`` stores a file of an action
    in the run folder, given its name and content.
    """

    deployment: Deployment
    hosts: Sequence[Host] = ()
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    keep: Callable[[str, bytes], None] = lambda _name, _content: None


class Timetable:
    """The actions of one run.  ``close`` undoes all that is not undone yet, even after errors.

    ``follow`` is called when a node has a new process.  ``link`` is that of the run, set once it
    exists; so are ``addresses``, to which its loads connect, and ``sign``, which returns the
    instants of signs of the load.
    """

    def __init__(
        self,
        actions: Sequence[ActionPlan],
        stage: Stage,
        log: LogEvent,
        follow: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with no action started."""
        self._stage = stage
        self._log = log
        self._follow = follow
        self._actions = actions
        self.link: Cable | None = None
        self.addresses: frozenset[str] = frozenset()
        self.sign: Sign = lambda _name, _since: None
        self._entries: list[Entry] = []
        self._in_progress: dict[int, ChainedExitStack] = {}
        self._action_facts: dict[int, ActionFacts] = {}
        self._prepared: dict[int, object] = {}
        self._preparations = ChainedExitStack()

    def check(self) -> None:
        """Raise ``SystemFault`` for a target that does not exist, or is unsuitable."""
        for number, action in enumerate(self._actions, 1):
            _kind(action).check(self._target(number, action))

    def prepare(self) -> None:
        """Enter the preparations of all actions before the load starts; ``close`` leaves them."""
        for number, action in enumerate(self._actions, 1):
            context = _kind(action).prepared(self._target(number, action))
            self._prepared[number] = self._preparations.enter_context(context)

    def begin(self, window: float) -> None:
        """Schedule the actions for a window that starts at ``window``, in epoch seconds."""
        for number, action in enumerate(self._actions, 1):
            begins = window + action.at_s
            self._add(Entry(begins, 1, partial(self._start, number, action, begins)))

    def _add(self, entry: Entry) -> None:
        self._entries = sorted([*self._entries, entry])

    @property
    def due(self) -> float:
        """The instant of the next entry; infinite when none is left."""
        return self._entries[0].at if self._entries else inf

    @property
    def renews(self) -> bool:
        """Whether an action ends or separates nodes, after which the system must be restarted."""
        return any(_kind(action).renews for action in self._actions)

    @property
    def disturbed(self) -> set[str]:
        """Labels of the nodes that an action disturbs now."""
        actions = (self._actions[number - 1] for number in self._in_progress)
        return {action.node for action in actions if action.node is not None}

    def act(self) -> None:
        """Execute every entry that is due."""
        while self.due <= time.time():
            self._entries.pop(0).do()

    def close(self) -> None:
        """Undo all actions in progress, and cancel the others."""
        self._entries.clear()
        with self._preparations, ChainedExitStack() as ends:  # runs all, also after an error
            for number in list(self._in_progress):
                ends.callback(self._end, number, self._actions[number - 1], time.time())

    def _target(self, number: int, action: ActionPlan) -> Target:
        """Return the current target of an action; raises ``SystemFault`` if it does not exist."""
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
        self._in_progress[number] = ChainedExitStack()  # set first, as the start may be interrupted
        applied = _kind(action).applied(self._target(number, action))
        facts = self._action_facts[number] = self._in_progress[number].enter_context(applied)
        commanded = float(str(facts.pop("commanded", commanded)))
        self._record("action-began", number, commanded)
        ends = commanded + action.for_s
        self._add(Entry(ends, 0, partial(self._end, number, action, ends)))

    def _end(self, number: int, action: ActionPlan, commanded: float) -> None:
        facts = self._action_facts.pop(number, {})
        try:
            self._in_progress[number].close()
        except MqperfError as error:
            facts["failure"] = str(error)
            raise
        finally:
            del self._in_progress[number]
            self._record("action-ended", number, commanded, **facts)
        if _kind(action).renews:
            self._follow()

    def _record(self, event: str, number: int, commanded: float, **facts: object) -> None:
        """Record an event that was observed now."""
        action, times = self._actions[number - 1], {"commanded": commanded, "observed": time.time()}
        self._log(event, number=number, action=action.do, node=action.target, **times, **facts)


def _kind(action: ActionPlan) -> Action:
    return ACTIONS[action.do]
