"""A router of a private network: its folder, its configuration file and its command."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts import HostFolder
from mqperf.lab.probes import Inside
from mqperf.lab.systems.certificates import Certificates
from mqperf.lab.systems.service import Server
from mqperf_routers.lab.configuration import (
    ANONYMOUS,
    CLIENTS,
    Addresses,
    Section,
    configuration,
    listeners,
    written,
)
from mqperf_routers.onhost import inside
from mqperf_routers.plan.network import BROKER, Network, NetworkNode

FILE = "router.conf"
ENCRYPTED = "encrypted"
"""The role, among addresses, of the listener that accepts clients over TLS."""

CERTIFICATE, KEY = "../clients.pem", "../clients.key"
"""Relative to the folder of a router, which is made when it starts; routers of a host share them.
"""


def ports_needed(network: Network, *, tls: bool = False) -> int:
    """Return how many ports a private network needs."""
    return sum(len(_roles(network, node, tls=tls)) for node in network.nodes)


def addresses(
    network: Network, host_folders: Sequence[HostFolder], ports: Sequence[int], *, tls: bool = False
) -> Addresses:
    """Return the addresses of a network's nodes, on the hosts of ``host_folders`` in their order.

    With ``tls`` every router has an address for TLS as well.
    """
    keys = [
        ((node.id, role), host_folder.host.address)
        for node, host_folder in zip(network.nodes, host_folders, strict=True)
        for role in _roles(network, node, tls=tls)
    ]
    return {key: (host, port) for (key, host), port in zip(keys, ports, strict=True)}


def _roles(network: Network, node: NetworkNode, *, tls: bool) -> tuple[str, ...]:
    encrypted = (ENCRYPTED,) if tls and node.role != BROKER else ()
    return (*listeners(network, node), *encrypted)


@dataclass(frozen=True, slots=True)
class Router:
    """One router of a network; ``host_folder`` is its private folder.

    With ``certificates`` it accepts clients over TLS, beside the plain listener for management.
    """

    network: Network
    node: NetworkNode
    host_folder: HostFolder
    addresses: Addresses
    worker_threads: int
    link_capacity: int
    certificates: Certificates | None = None

    def write_certificates(self) -> None:
        """Write certificate and key where the router reads them, readable by their owner only."""
        if (certificates := self.certificates) is not None:
            for name, content in ((CERTIFICATE, certificates.nodes), (KEY, certificates.key)):
                self.host_folder.host.write(
                    self.host_folder.folder.parent / Path(name).name, content
                )

    def configuration(self) -> str:
        """Return the content of the router's configuration file."""
        text = configuration(
            self.network,
            self.node,
            self.addresses,
            more={
                "router": {"workerThreads": self.worker_threads},
                "listener": {"linkCapacity": self.link_capacity},
            },
        )
        return text + written(self._encrypted())

    def _encrypted(self) -> Iterator[Section]:
        if self.certificates is None:
            return
        host, port = self.addresses[self.node.id, ENCRYPTED]
        plain = {"role": CLIENTS, "host": host, "port": port, "linkCapacity": self.link_capacity}
        tls = {"sslProfile": ENCRYPTED, "requireSsl": True}
        files = {"certFile": CERTIFICATE, "privateKeyFile": KEY}
        yield "sslProfile", {"name": ENCRYPTED, **files}
        yield "listener", {**plain, **ANONYMOUS, **tls}

    def server(self, program: str) -> Server:
        """Return the router as a server that runs this program."""
        host, port = self.addresses[self.node.id, CLIENTS]
        return Server(
            label=self.node.id,
            name=f"{host}:{port}",
            host_folder=self.host_folder,
            argv=(program, "--conf", FILE),
            env={"LANG": "C.UTF-8", "PATH": self.host_folder.host.path},
            ready=(
                f"Listening on {host}:{port}",
                f"Listening for client connections on {host}:{port}",
            ),
            taken=("Address already in use",),
            files={FILE: self.configuration()},
            inside=Inside(self.node.id, inside.__name__, f"{host}:{port}"),
        )
