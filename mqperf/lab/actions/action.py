"""The interface of actions: a disturbance of a system under test that is undone afterwards."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, JsonValue

from mqperf.base.problems import Problem
from mqperf.hosts import Host, Restartable, Watched
from mqperf.lab.links import Cable
from mqperf.plan import Frozen

Where = Literal["node", "link", "host"]
"""The kind of an action's target: the key that names it in a plan."""

Sign = Callable[[str, float], float | None]


class NoParameters(Frozen):
    """The parameters of an action that has none."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an action of a run, in its current state.

    ``label`` is its name in the plan.  ``service`` is a node that can be restarted, or the process
    of any other node if it is visible, and ``host`` the host of that; ``others`` are the hosts of
    all other nodes.  ``addresses``, each ``host:port``, are those to which the loads of the run
    connect.  ``cable`` is the link.  ``parameters`` are the validated ones of the action, and
    ``files`` the contents of the files that they name.  ``keep`` stores a file in the run folder,
    given its name and content.  ``prepared`` is the value of the action's ``prepared`` context.
    ``sign`` takes the name of a sign that processes of the load give, and an instant; it returns
    the first instant of the sign since then, or None; all in epoch seconds.
    """

    label: str
    parameters: BaseModel = field(default_factory=NoParameters)
    service: Restartable | Watched | None = None
    host: Host | None = None
    others: tuple[Host, ...] = ()
    addresses: frozenset[str] = frozenset()
    cable: Cable | None = None
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    keep: Callable[[str, bytes], None] = lambda _name, _content: None
    prepared: object = None
    sign: Sign = lambda _name, _since: None


ActionFacts = dict[str, JsonValue]
"""Further facts about an action, recorded when it has ended."""


@dataclass(frozen=True, slots=True)
class Action:
    """A kind of action.

    ``title`` says what happens to its target, in the past tense.  ``check`` raises ``SystemFault``
    for an unsuitable target.  ``prepared`` is entered before the load starts and left after the
    run, for steps that take time and disturb nothing.  ``applied`` disturbs the target on entering
    and restores it on leaving, even after errors; the facts that it yields may be extended until
    then, and have ``commanded`` if the action was due later than the plan says.  ``on`` are the
    kinds of target that it supports, ``parameters`` is the model of its other keys in a plan.  An
    action that ``renews`` the system ends or separates nodes: the system is restarted for the next
    run.  ``file_problems`` returns problems of the files that a plan names in the action, from the
    keys of the action and the contents of the files by their names.
    """

    name: str
    title: str
    check: Callable[[Target], None]
    applied: Callable[[Target], AbstractContextManager[ActionFacts]]
    on: tuple[Where, ...] = ("node",)
    parameters: type[BaseModel] = NoParameters
    renews: bool = False
    prepared: Callable[[Target], AbstractContextManager[object]] = nullcontext
    file_problems: Callable[[Mapping[str, object], Mapping[str, bytes]], Iterable[Problem]] = (
        lambda _spec, _files: ()
    )
