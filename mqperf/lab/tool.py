"""Programs that are not mqperf's own, and what installs them on Debian and Ubuntu."""

from dataclasses import dataclass

from mqperf.base.errors import SystemFault
from mqperf.hosts import HERE, Host


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that a host may need.

    ``program`` is its name on the PATH, or where it is; ``packages`` are Debian's; ``services`` are
    those that start with them, and would be in the way of a measurement.  Where no package has it,
    ``by_hand`` says how to get it; programs ``instead`` of it will do.
    """

    name: str
    program: str
    packages: tuple[str, ...]
    services: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    by_hand: str = ""

    @property
    def programs(self) -> tuple[str, ...]:
        """Those of which one is enough."""
        return (self.program, *self.instead)

    @property
    def install(self) -> str:
        """What somebody types on the machine that lacks it."""
        return f"sudo apt-get install {' '.join(self.packages)}"

    @property
    def install_quietly(self) -> str:
        """What root's shell does: install it without asking, and let no service of it run."""
        install = f"apt-get install --yes --no-install-recommends {' '.join(self.packages)}"
        stop = f" && systemctl disable --now {' '.join(self.services)}" if self.services else ""
        return install + stop

    def on(self, title: str, host: Host) -> str:
        """Where its program is on a host; raises ``SystemFault`` of a host that lacks it."""
        place = host.which([self.program])[self.program]
        if place is None:
            raise self.missing(title, host)
        return place

    def missing(self, title: str, host: Host) -> SystemFault:
        """The fault of a host that lacks it, with what to do; ``title`` is how to call it."""
        if self.by_hand:
            where = "" if host.name == HERE else f" on {host.name}"
            return SystemFault(f"{title} is not installed{where}: {self.by_hand}")
        if host.name == HERE:
            return SystemFault(f"{title} is not installed: {self.install}")
        return SystemFault(
            f"{title} is not installed on {host.name}: {self.install}, there; or prepare all hosts:"
            " mqperf hosts prepare"
        )
