"""The description of a load generator for plans and pages."""

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
        """Its name in records: ``client-1``."""
        return f"{self.kind}-{self.number}"


def pairs(case: Case) -> list[Member]:
    """Return a client and a server for every process of every client host; servers first."""
    numbers = range(1, case.processes * case.hosts + 1)
    return [*(Member("server", number) for number in numbers), *clients(case)]


def clients(case: Case) -> list[Member]:
    """Return the clients only, for loads whose servers are not processes of mqperf."""
    return [Member("client", number) for number in range(1, case.processes * case.hosts + 1)]


def _no_log(kind: str, _parameters: Mapping[str, object]) -> str | None:
    if QUEUES[kind].declared:
        return NO_OPTIONS
    return "it consumes from queues only" if QUEUES[kind].log else None


@dataclass(frozen=True, slots=True)
class Generator:
    """A kind of load generator.

    The launcher of the same name starts it, and the reader of that name parses its output.

    ``link`` is a URL for readers of reports; ``protocol`` distinguishes it there from others of a
    plan.  ``parameters`` is the model of its part of a plan's load; each field is a column of the
    tables, and may be swept.  ``release`` is the key of its own version among the recorded ones.
    ``members`` returns the processes of a case, servers first.  ``copies`` returns how often each
    message of a case is to be delivered; servers then record the messages of a sender under
    ``SENDER@1``, ``SENDER@2`` and so on.  ``encrypts``: it supports TLS.  ``ends_early``: its
    clients end the load at an instant that the runner writes during the run (the file ``end``), and
    its servers report latencies meanwhile.  ``one_core``: each of its processes uses about one core
    at a time, as Python does.  ``incompatible_queues`` returns why a load with these parameters
    cannot use a kind of queue, or None.
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
        """Return all its parameters in the case, defaults included, but not of driver options."""
        resolved = self.parameters.model_validate(dict(case.parameters)).model_dump(mode="json")
        unset = {name for name in (SET, *OPTIONS) if resolved.get(name) is None}
        return {name: value for name, value in resolved.items() if name not in unset}
