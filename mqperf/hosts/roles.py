"""Which hosts of a bench do what."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self, cast

from mqperf.hosts.host import Host
from mqperf.hosts.wrapped import WrappedHost
from mqperf.plan.link import Role

ROLES: tuple[Role, ...] = ("broker", "client", "server")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts of a bench by role, each role with at least one; a host may have several roles.

    Brokers are in the order in which topologies count the nodes.  ``outside`` has by name the hosts
    as those see them who watch a run, where roles see wrapped ones.
    """

    broker: tuple[Host, ...]
    client: tuple[Host, ...]
    server: tuple[Host, ...]
    outside: Mapping[str, Host] = field(default_factory=dict)

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
        return replace(self, client=self.client[:count])

    def wrapped(self, wrap: Callable[[Role | None, Host], Host | WrappedHost]) -> "Hosts":
        """The hosts of each role wrapped so; without a role those of who watches a run."""
        seen = [*((role, self.of(role)) for role in ROLES), (None, self.every)]
        broker, client, server, outside = (
            tuple(cast("Host", wrap(role, host)) for host in of_role) for role, of_role in seen
        )
        return Hosts(broker, client, server, {host.name: host for host in outside})

    def roles(self, host: Host) -> tuple[Role, ...]:
        """Those of a host."""
        return tuple(
            role for role in ROLES if host.name in {member.name for member in self.of(role)}
        )

    @property
    def every(self) -> tuple[Host, ...]:
        """Each host once, brokers first, as those see it who watch a run."""
        named = {host.name: host for host in (*self.broker, *self.client, *self.server)}
        return tuple(self.outside.get(name, host) for name, host in named.items())
