"""What a load generator is to plans and pages: what it may be asked, and what that means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from mqperf.plan import Case, Frozen
from mqperf.plan.driver import OPTIONS, SET
from mqperf.plan.topologies import QUEUES

Kind = Literal["client", "server"]

NO_OPTIONS = "it has no options that say what they are"


@dataclass(frozen=True, slots=True)
class Member:
    """A process of a load: client 1 sends to server 1, and so on, over all hosts."""

    kind: Kind
    number: int

    @property
    def label(self) -> str:
        """How records call it: ``client-1``."""
        return f"{self.kind}-{self.number}"


def pairs(case: Case) -> list[Member]:
    """A client and a server for every process of every client host; servers first."""
    numbers = range(1, case.processes * case.hosts + 1)
    return [*(Member("server", number) for number in numbers), *clients(case)]


def clients(case: Case) -> list[Member]:
    """The same without servers: whoever answers is none of ours."""
    return [Member("client", number) for number in range(1, case.processes * case.hosts + 1)]


def _no_log(kind: str, _parameters: Mapping[str, object]) -> str | None:
    if QUEUES[kind].declared:
        return NO_OPTIONS
    return "it consumes from queues only" if QUEUES[kind].log else None


@dataclass(frozen=True, slots=True)
class Generator:
    """A kind of load generator.

    The launcher of the same name starts it, and the reader of that name reads what it left.

    ``link`` is for readers of reports, and so is the ``protocol`` by which it is told from others
    of a plan.  ``parameters`` is the model of what a plan may say of its load; each field is a
    column of the register, and may be swept.  ``release`` is the entry of its recorded versions
    that is its own.  ``members`` are the processes of a case, servers first.
    ``copies`` is how often each message of a case is to be delivered; servers then record the
    messages of a sender as those of ``SENDER@1``, ``SENDER@2`` and so on.  ``encrypts`` says that
    it speaks TLS where that is asked for.  ``ends_early`` says that its clients end with the load
    at an instant that the runner tells them meanwhile (the file ``end``), and that servers say how
    long messages took.  ``one_core`` says that each of its processes computes on about one core at
    a time, as Python does.  ``incompatible_queues`` tells why a load with these parameters cannot
    have its messages in a kind of queue.
    """

    name: str
    title: str
    link: str
    test_cases: tuple[str, ...]
    parameters: type[Frozen]
    protocol: str = ""
    release: str = "mqperf"
    members: Callable[[Case], list[Member]] = pairs
    copies: Callable[[Case], int] = lambda _case: 1
    encrypts: bool = False
    ends_early: bool = False
    one_core: bool = True
    incompatible_queues: Callable[[str, Mapping[str, object]], str | None] = _no_log

    def resolved(self, case: Case) -> dict[str, JsonValue]:
        """All its parameters as they are in the case; of a driver's options those that it says."""
        resolved = self.parameters.model_validate(dict(case.parameters)).model_dump(mode="json")
        unsaid = {name for name in (SET, *OPTIONS) if resolved.get(name) is None}
        return {name: value for name, value in resolved.items() if name not in unsaid}
