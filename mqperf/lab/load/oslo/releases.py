"""The releases of oslo.messaging whose simulator is used, by the protocols of their drivers.

Packages add releases with drivers for other protocols than RabbitMQ's, and older releases.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import LoadError
from mqperf.base.registry import Registry
from mqperf.lab.load.launcher import Endpoint
from mqperf.plan import Case

LOCKS = Path(__file__).with_name("locks")

Sections = Mapping[str, Mapping[str, str]]
"""Options of oslo.config by section."""

SERVER_THREADS = 64
"""Messages that an oslo.messaging server handles concurrently, each with a connection."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of oslo.messaging with its simulator and its dependencies, by exact version.

    Its driver connects to endpoints of ``protocol``; ``scheme`` is the scheme of its transport
    URLs, and ``options`` returns its options for a case, an endpoint and the address of a client's
    host.  ``lock`` is its lock file, ``repairs`` are the functions in a package's ``onhost`` that
    it needs, as ``module:function``, ``libraries`` the distributions, in addition to those of every
    release, whose versions can explain a result, and ``tools`` names what must be installed to
    compile distributions without compiled code.
    """

    name: str
    version: str
    protocol: str
    scheme: str
    options: Callable[[Case, Endpoint, str], Sections]
    lock: Path
    sdist_sha256: str
    repairs: tuple[str, ...]
    libraries: tuple[str, ...]
    why: str
    tools: str = ""

    @property
    def package(self) -> str:
        """The package that contains its repairs."""
        return next(iter(self.repairs), "mqperf").partition(".")[0]


def _rabbit(case: Case, _endpoint: Endpoint, _address: str) -> Sections:
    """Return a connection pool large enough for all green threads, and the kind of queue."""
    section = {"rpc_conn_pool_size": str(max(case.green_threads, SERVER_THREADS) + 16)}
    if case.queues == "quorum":
        section |= {"rabbit_quorum_queue": "true", "rabbit_transient_quorum_queue": "true"}
    return {"oslo_messaging_rabbit": section}


RABBITMQ = Release(
    name="rabbitmq",
    version="18.3.1",
    protocol="amqp-0-9-1",
    scheme="rabbit",
    options=_rabbit,
    lock=LOCKS / "rabbitmq.txt",
    sdist_sha256="28831b36096d74da5cd1370ef25b4719aaca627d94785a67a9838a480ce7ee3a",
    repairs=("mqperf.onhost.load.repairs:queue_manager_place",),
    libraries=(),
    why="current; releases 14.8 to 18.1 wait 0.5 s for every CALL (Launchpad bug 2035113)",
)

RELEASES = Registry("oslo_releases", (RABBITMQ,))


def find(name: str) -> Release:
    """Return the release of that name; raises `LoadError` listing the known ones."""
    if name not in RELEASES:
        raise LoadError(f"No simulator release {name!r}; there are: {', '.join(RELEASES)}.")
    return RELEASES[name]


def pinned(name: str, distribution: str) -> str:
    """Return the version of a distribution in the lock file of a release."""
    lock = find(name).lock
    pin = re.search(rf"^{re.escape(distribution)}==(\S+)", lock.read_text(), re.MULTILINE)
    if pin is None:
        raise LoadError(f"{lock}: does not name {distribution}; renew the locks")
    return pin[1]
