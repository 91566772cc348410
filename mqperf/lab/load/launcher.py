"""What a load generator is to those who run it.

A launcher is pure where it meets the rest: a `LoadJob` goes in, `Command`s come out.  It starts,
stops and signals nothing itself; how its processes and the runner tell each other their state is
in ``runner/control.py``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from mqperf.hosts.software import Machine
from mqperf.plan import Case
from mqperf.plan.load import Kind, Member
from mqperf.plan.topologies import Topology


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and as whom one role of a run connects.

    ``addresses`` are ``host:port``, the first to be tried first; ``vhost`` is the virtual host, if
    the protocol has such.  ``query`` is what else a user's URL asks for.  With ``authority``, a
    certificate in PEM, TLS is spoken, with servers whose certificates it has signed.  The password
    is left out of ``repr``, and only ever written to files that nobody else can read.
    ``queue_address`` is how an address of AMQP 1.0 names a queue there.
    """

    protocol: str
    addresses: tuple[str, ...]
    user: str = ""
    password: str = field(default="", repr=False)
    vhost: str | None = None
    query: str = field(default="", repr=False)
    authority: str = field(default="", repr=False)
    queue_address: str = "{}"

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

    @classmethod
    def by(cls, topology: Topology, every: Endpoint) -> "Access":
        """That to nodes whose addresses, in their order, ``every`` has."""
        nodes = every.addresses
        orders = (topology.order(at, len(nodes)) for at in (topology.client, topology.server))
        return cls(*(replace(every, addresses=tuple(nodes[at] for at in each)) for each in orders))


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
class LoadJob:
    """What a launcher is told of one run on one host: which processes are to run there.

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
class Launcher:
    """How the generator of this name is run.

    ``tool`` gets it ready for a driver, as ``System.every_driver`` names it, on a host, making it
    on first use; ``about`` names that tool in a few words and ``try_out`` starts it there once and
    gives its versions.  ``commands`` gives the processes of a job, and ``describe`` those of a case
    as a person would type them; with ``typed`` false, who its processes are, as their commands need
    files that a run makes.  ``options`` tells how the access was configured on a host of that
    address, without secrets.  ``check`` raises ``LoadError`` unless a process left sound output in
    a folder.  ``queues`` names what a run of a case declares in a broker and leaves there.
    ``drivers`` names, by system, its driver that speaks to those which do not name it themselves.
    ``library`` gives the version of a library that its tool for a driver has, for systems that are
    such a library.
    """

    name: str
    tool: Callable[[str, Machine], Tool]
    about: Callable[[str], str]
    try_out: Callable[[str, Machine], Mapping[str, str]]
    commands: Callable[[LoadJob], list[Command]]
    describe: Callable[[Case], list[str]]
    check: Callable[[Path, str, Kind], None]
    typed: bool = True
    drivers: Mapping[str, str] = field(default_factory=dict)
    options: Callable[[Case, Access, str], Mapping[str, Mapping[str, str]]] = lambda *_: {}
    queues: Callable[[Case, str], Sequence[str]] = lambda _case, _run_id: ()
    library: Callable[[str, str], str] = lambda _driver, _library: "unknown"


def _quoted(text: str) -> str:
    return quote(text, safe="")
