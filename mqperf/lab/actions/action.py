"""What an action is to the runner: something done to a system under test, and undone."""

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
"""What an action is done to, or on: the key by which a plan says it."""


Sign = Callable[[str, float], float | None]


class NoParameters(Frozen):
    """Those of an action that has none."""


@dataclass(frozen=True, slots=True)
class Target:
    """What an action of a run is done to, as it is at that moment.

    ``label`` is how the plan calls it.  ``service`` is a node that can be started again, or the
    process of another if we can see it, and ``host`` where it runs; ``others`` are the hosts of all
    other nodes.  ``addresses``, each ``host:port``, are those that the loads of the run got to
    connect to.  ``cable`` is the link.  ``parameters`` are those of the action, checked, and
    ``files`` the contents of the files that they name.  ``keep`` takes the name and the content of
    what is to be kept in the run folder.  ``prepared`` is what the action's ``prepared`` gave.
    ``sign`` takes the name of a sign that processes of the load give, and gives the first instant
    of it since another one, if there is any yet; all in epoch seconds.
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
"""What else is to be written down of an action when it has ended."""


@dataclass(frozen=True, slots=True)
class Action:
    """A kind of action.

    ``title`` says what happens to its target, in the past tense.  ``check`` raises ``SystemFault``
    for a target to which it cannot be done.  ``prepared`` is entered before the load starts, and
    left when all is over: what takes time and disturbs nobody belongs there.  ``applied`` does it
    on entering and undoes it on leaving, whatever happened meanwhile; what it gives may be filled
    until then, and has ``commanded`` where the action was due later than the plan has it.  ``on``
    are the kinds of target that it can have, ``parameters`` the model of what else a plan says of
    it.  One that ``renews`` the system ends or parts nodes: it is started anew for the next run.
    ``file_problems`` tells what is wrong with the files that a plan names in it: it gets what the
    plan says, and contents by what it says of them.
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
        lambda _said, _files: ()
    )
