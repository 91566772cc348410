"""What a load generator is to those who run it and to those who read what it left.

A generator is pure where it meets the rest: a `Job` goes in, `Command`s come out, and its files are
read back.  It starts, stops and signals nothing itself; how its processes and the runner tell each
other their state is in ``runner/control.py``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import quote

from pydantic import JsonValue

from mqperf.plan import Case, Frozen
from mqperf.software import Machine
from mqperf.topologies import QUEUES

if TYPE_CHECKING:
    from mqperf.record import Whole
    from mqperf.series.stream import ByProcess

Kind = Literal["client", "server"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and as whom one role of a run connects.

    ``addresses`` are ``host:port``, the first to be tried first; ``vhost`` is the virtual host, if
    the protocol has such.  ``query`` is what else a user's URL asks for.  With ``authority``, a
    certificate in PEM, TLS is spoken, with servers whose certificates it has signed.  The password
    is left out of ``repr``, and only ever written to files that nobody else can read.
    """

    protocol: Literal["amqp-0-9-1", "amqp-1.0", "zmtp"]
    addresses: tuple[str, ...]
    user: str = ""
    password: str = field(default="", repr=False)
    vhost: str | None = None
    query: str = field(default="", repr=False)
    authority: str = field(default="", repr=False)

    def url(self, scheme: str) -> str:
        """The endpoint as one URL, user and password at each address."""
        at = f"{_quoted(self.user)}:{_quoted(self.password)}@" if self.user else ""
        path = "" if self.vhost is None else f"/{_quoted(self.vhost)}"
        query = f"?{self.query}" if self.query else ""
        places = ",".join(f"{at}{address}" for address in self.addresses)
        return f"{scheme}://{places}{path}{query}"


@dataclass(frozen=True, slots=True)
class Access:
    """What a system provisions for one run."""

    client: Endpoint
    server: Endpoint


@dataclass(frozen=True, slots=True)
class Command:
    """One process of a load generator.

    ``files`` are written into the run's control folder before any process starts, by name and
    readable for their owner only.
    """

    label: str
    kind: Kind
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict, repr=False)


class Tool(Protocol):
    """A generator's program, ready to run on a host."""

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions that can explain a result, by what they are of."""
        ...

    def check(self) -> None:
        """Raise ``LoadError`` unless it is still the program that ``versions`` names."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """A process of a load: client 1 sends to server 1, and so on, over all hosts."""

    kind: Kind
    number: int

    @property
    def label(self) -> str:
        """How records call it: ``client-1``."""
        return f"{self.kind}-{self.number}"


@dataclass(frozen=True, slots=True)
class Job:
    """What a generator is told of one run on one host: which processes are to run there.

    Paths are those of the host: they talk to the runner in ``control`` and write into ``out``.
    ``address`` is where others reach what listens on the host.  ``files`` are the contents of those
    that the case names, by what it says of them.
    """

    case: Case
    run_id: str
    access: Access
    tool: Tool
    members: Sequence[Member]
    control: Path
    out: Path
    address: str
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Happened:
    """What a process of a load noted: at an instant in epoch seconds of its own host's clock."""

    label: str
    time: float
    what: str
    detail: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Account:
    """What a generator's own output says of a run, beside the record of every message.

    Throughput and latency are by the formulas of the published reports; ``offered_msg_s`` is the
    mean rate at which clients were to send in the window; ``disagreements`` are sentences about
    what contradicts the record, ``happened`` becomes rows of the table ``events``, and ``tables``
    has rows of tables that only its own files can fill.
    """

    throughput_msg_s: float | None = None
    latency_mean_s: float | None = None
    offered_msg_s: float | None = None
    disagreements: Sequence[str] = ()
    happened: Sequence[Happened] = ()
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


def pairs(case: Case) -> list[Member]:
    """A client and a server for every process of every client host; servers first."""
    numbers = range(1, case.processes * case.hosts + 1)
    return [*(Member("server", number) for number in numbers), *clients(case)]


def clients(case: Case) -> list[Member]:
    """The same without servers: whoever answers is none of ours."""
    return [Member("client", number) for number in range(1, case.processes * case.hosts + 1)]


def _none(_case: Case, _run_id: str) -> Sequence[str]:
    return ()


def _once(_case: Case) -> int:
    return 1


def _no_log(kind: str, _parameters: Mapping[str, object]) -> str | None:
    return "it consumes from queues only" if QUEUES[kind].log else None


def _unknown(_driver: str, _library: str) -> str:
    return "unknown"


@dataclass(frozen=True, slots=True)
class Generator:
    """A kind of load generator.

    ``tool`` gets it ready for a driver, as ``System.drivers`` names it, on a host, making it on
    first use; ``about`` names that tool in a few words and ``try_out`` starts it there once and
    gives its versions.
    ``release`` is the entry of those versions that is its own.  ``parameters`` is the model of what
    a plan may say of its load; each field is a column of the register, and may be swept.
    ``describe`` gives the commands of a case as a person would type them; with ``typed`` false, who
    its processes are, as their commands need files that a run makes.  ``options`` tells how
    the access was configured on a host of that address, without secrets.  ``check`` raises
    ``LoadError`` unless a process left sound output in a folder, and ``account`` reads it; ``link``
    is for readers of reports.
    ``members`` are the processes of a case, servers first.
    ``queues`` names what a run of a case declares in a broker and leaves there.  ``library`` gives
    the version of a library that its tool for a driver has, for systems that are such a library.
    ``copies`` is how often each message of a case is to be delivered; servers then record the
    messages of a sender as those of ``SENDER@1``, ``SENDER@2`` and so on.
    ``encrypts`` says that it speaks TLS where that is asked for.
    ``ends_early`` says that its clients end with the load at an instant that the runner tells them
    meanwhile (the file ``end``), and that servers say how long messages took.
    ``misfit`` tells why a load with these parameters cannot have its messages in a kind of queue.
    """

    name: str
    title: str
    link: str
    test_cases: tuple[str, ...]
    tool: Callable[[str, Machine], Tool]
    about: Callable[[str], str]
    try_out: Callable[[str, Machine], Mapping[str, str]]
    release: str
    parameters: type[Frozen]
    commands: Callable[[Job], list[Command]]
    describe: Callable[[Case], list[str]]
    options: Callable[[Case, Access, str], Mapping[str, Mapping[str, str]]]
    check: Callable[[Path, str, Kind], None]
    account: "Callable[[Whole, ByProcess], Account]"
    members: Callable[[Case], list[Member]] = pairs
    typed: bool = True
    queues: Callable[[Case, str], Sequence[str]] = _none
    library: Callable[[str, str], str] = _unknown
    copies: Callable[[Case], int] = _once
    encrypts: bool = False
    ends_early: bool = False
    misfit: Callable[[str, Mapping[str, object]], str | None] = _no_log

    def resolved(self, case: Case) -> dict[str, JsonValue]:
        """All its parameters, with the values that they have in the case."""
        return self.parameters.model_validate(dict(case.parameters)).model_dump(mode="json")


def _quoted(text: str) -> str:
    return quote(text, safe="")
