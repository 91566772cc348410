"""The roles of the hosts of a bench."""

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

    Brokers are in the order in which topologies count the nodes.  Where the hosts of roles are
    wrapped, ``outside`` has by name the hosts for the code that watches a run.
    """

    broker: tuple[Host, ...]
    client: tuple[Host, ...]
    server: tuple[Host, ...]
    outside: Mapping[str, Host] = field(default_factory=dict)

    @classmethod
    def alone(cls, host: Host) -> Self:
        """Return the hosts of a bench with one host that has all roles."""
        return cls((host,), (host,), (host,))

    def of(self, role: Role) -> tuple[Host, ...]:
        """Return the hosts of a role."""
        by_role = {"broker": self.broker, "client": self.client, "server": self.server}
        return by_role[role]

    def check(self) -> None:
        """Raise ``HostLost`` for the first host known to be lost; sends nothing to any host."""
        for host in self.every:
            host.check()

    def with_clients(self, count: int) -> "Hosts":
        """Return the hosts with only the first ``count`` client hosts."""
        return replace(self, client=self.client[:count])

    def wrapped(self, wrap: Callable[[Role | None, Host], Host | WrappedHost]) -> "Hosts":
        """Return the hosts wrapped by ``wrap``, called with the role, or None for ``outside``."""
        groups = [*((role, self.of(role)) for role in ROLES), (None, self.every)]
        broker, client, server, outside = (
            tuple(cast("Host", wrap(role, host)) for host in group) for role, group in groups
        )
        return Hosts(broker, client, server, {host.name: host for host in outside})

    def roles(self, host: Host) -> tuple[Role, ...]:
        """Return the roles of a host."""
        return tuple(
            role for role in ROLES if host.name in {member.name for member in self.of(role)}
        )

    @property
    def every(self) -> tuple[Host, ...]:
        """Each host once, brokers first, as the code that watches a run uses it."""
        by_name = {host.name: host for host in (*self.broker, *self.client, *self.server)}
        return tuple(self.outside.get(name, host) for name, host in by_name.items())
