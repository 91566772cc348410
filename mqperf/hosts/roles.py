"""Which hosts of a bench do what."""

from dataclasses import dataclass
from typing import Self

from mqperf.hosts.host import Host
from mqperf.plan.link import Role

ROLES: tuple[Role, ...] = ("broker", "client", "server")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts of a bench by role, each role with at least one; a host may have several roles.

    Brokers are in the order in which topologies count the nodes.
    """

    broker: tuple[Host, ...]
    client: tuple[Host, ...]
    server: tuple[Host, ...]

    @classmethod
    def alone(cls, host: Host) -> Self:
        """One host that has all roles."""
        return cls((host,), (host,), (host,))

    def of(self, role: Role) -> tuple[Host, ...]:
        """The hosts of a role."""
        by_role = {"broker": self.broker, "client": self.client, "server": self.server}
        return by_role[role]

    def check(self) -> None:
        """Raise ``HostLost`` for the first that does not answer any more; asks nobody."""
        for host in self.every:
            host.check()

    def with_clients(self, count: int) -> "Hosts":
        """The hosts of a case that has so many client hosts: the first of them."""
        return Hosts(self.broker, self.client[:count], self.server)

    def roles(self, host: Host) -> tuple[Role, ...]:
        """Those of a host."""
        return tuple(
            role for role in ROLES if host.name in {member.name for member in self.of(role)}
        )

    @property
    def every(self) -> tuple[Host, ...]:
        """Each host once, brokers first."""
        named = {host.name: host for host in (*self.broker, *self.client, *self.server)}
        return tuple(named.values())
