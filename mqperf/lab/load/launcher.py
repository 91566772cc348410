"""The interface of load generators to the runner.

A launcher is a pure function from a `LoadJob` to `Command`s.  It starts, stops and signals nothing
itself; how its processes and the runner exchange their states is in ``runner/control.py``.
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
    """Addresses and credentials with which one role of a run connects.

    ``addresses`` are ``host:port``, in the order of attempts; ``vhost`` is the virtual host, if the
    protocol has one.  ``query`` is the query of a user's URL.  With ``authority``, a certificate in
    PEM, connections use TLS, to servers whose certificates it has signed.  The password is not
    part of ``repr``, and is only written to files that nobody else can read.  ``queue_address`` is
    the format of an AMQP 1.0 address of a queue.
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
        """Return the endpoint as one URL, with user and password at each address."""
        userinfo = f"{_quoted(self.user)}:{_quoted(self.password)}@" if self.user else ""
        path = "" if self.vhost is None else f"/{_quoted(self.vhost)}"
        query = f"?{self.query}" if self.query else ""
        authorities = ",".join(f"{userinfo}{address}" for address in self.addresses)
        return f"{scheme}://{authorities}{path}{query}"


@dataclass(frozen=True, slots=True)
class Access:
    """The endpoints that a system provisions for one run."""

    client: Endpoint
    server: Endpoint

    @classmethod
    def by(cls, topology: Topology, every: Endpoint) -> "Access":
        """Return the access to nodes, whose addresses ``every`` has in the order of the nodes."""
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
        """The versions that can explain a result, by name of the product."""
        ...

    def check(self) -> None:
        """Raise ``LoadError`` unless it is still the program that ``versions`` describes."""
        ...


@dataclass(frozen=True, slots=True)
class LoadJob:
    """The input of a launcher: the processes, ``members``, of one run on one host.

    Paths are those of the host: its processes communicate with the runner in ``control`` and write
    into ``out``.  ``address`` is that at which others reach servers on the host.  ``files`` are the
    contents of the files of the case, by their names in it.
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
    """How to run the generator of this name.

    ``tool`` prepares it on a host for a driver, as named by ``System.every_driver``, and builds it
    on first use; ``about`` describes that tool in a few words; ``try_out`` starts it once and
    returns its versions.  ``commands`` returns the processes of a job, and ``describe`` those of a
    case as command lines to type; with ``typed`` false only their names, as the commands need files
    that a run creates.  ``options`` returns the configuration of the access on a host of that
    address, without secrets.  ``check`` raises ``LoadError`` unless a process left sound output in
    a folder.  ``queues`` returns the queues that a run of a case declares and leaves in a broker.
    ``drivers`` has, by system, the driver for systems that do not name the generator themselves.
    ``library`` returns the version of a library in its tool for a driver, for systems that are
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
