"""The addresses of a network's nodes, and the check that no two listeners share a port."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mqperf_routers.lab.configuration import CLIENTS, Addresses, listeners
from mqperf_routers.plan.network import BROKER, Network, NetworkError, NetworkNode, joined_as

FIRST_PORT = 5672
"""The port of AMQP."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A network; by node the name of its host (``hosts``) and that host's address (``reached``)."""

    name: str
    network: Network
    hosts: Mapping[str, str]
    reached: Mapping[str, str]

    def addresses(self) -> Addresses:
        """Return host and port by node and role of a connection.

        A node listens for clients at its ``port``, and for routers at the following ones; a node
        without a ``port`` uses the first ones from 5672 on after those of earlier nodes on its
        host. Raise ``NetworkError`` where two listeners have the same port.
        """
        addresses: dict[tuple[str, str], tuple[str, int]] = {}
        taken: dict[tuple[str, int], str] = {}
        for node in self.network.nodes:
            host = self.reached[node.id]
            last = max((port for other, port in taken if other == host), default=FIRST_PORT - 1)
            for role, port in [*self._listeners(node, last)]:
                if (host, port) in taken:
                    raise NetworkError(
                        f"{taken[host, port]} and {node.id} both listen at port {port} of {host}:"
                        " give one of them another port"
                    )
                taken[host, port] = node.id
                addresses.setdefault((node.id, role), (host, port))
        self._check(addresses)
        return addresses

    def _listeners(self, node: NetworkNode, last: int) -> Iterator[tuple[str, int]]:
        """Yield role and port of each listener: implied by the network, then configured ones."""
        first = node.port or last + 1
        for number, role in enumerate(listeners(self.network, node)):
            yield role, first + number
        for kind, attributes in node.sections:
            if kind == "listener":
                yield (
                    str(attributes.get("role", CLIENTS)),
                    _port_number(attributes.get("port", FIRST_PORT), node),
                )

    def _check(self, addresses: Addresses) -> None:
        """Raise ``NetworkError`` for a node that others connect to but that has no listener."""
        for _, who, whom in self.network.connections():
            role = CLIENTS if whom.role == BROKER else joined_as(who, whom)
            if (whom.id, role) not in addresses and "connector" in who.defaults:
                raise NetworkError(
                    f"{who.id} connects to {whom.id}, which has no listener of the role {role}:"
                    " add one"
                )


def _port_number(port: object, node: NetworkNode) -> int:
    if str(port) == "amqp":
        return FIRST_PORT
    if not str(port).isdecimal() or not 0 < int(str(port)) < 1 << 16:
        raise NetworkError(f"{node.id} listens at port {port!r}: expected 1 to 65535")
    return int(str(port))
