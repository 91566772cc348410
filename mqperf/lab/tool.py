"""External programs, and the commands that install them on Debian and Ubuntu."""

from dataclasses import dataclass

from mqperf.base.errors import SystemFault
from mqperf.hosts import HERE, Host


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that a host may need.

    ``program`` is its name on the PATH, or its path; ``packages`` are Debian's; ``services`` are
    those that the packages start, which would disturb a measurement.  Where no package has it,
    ``by_hand`` says how to get it; the programs ``instead`` are alternatives.
    """

    name: str
    program: str
    packages: tuple[str, ...]
    services: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    by_hand: str = ""

    @property
    def programs(self) -> tuple[str, ...]:
        """The alternative programs, of which one is enough."""
        return (self.program, *self.instead)

    @property
    def install(self) -> str:
        """The command that installs it on a machine."""
        return f"sudo apt-get install {' '.join(self.packages)}"

    @property
    def install_quietly(self) -> str:
        """The command for root that installs it without prompts and disables its services."""
        install = f"apt-get install --yes --no-install-recommends {' '.join(self.packages)}"
        stop = f" && systemctl disable --now {' '.join(self.services)}" if self.services else ""
        return install + stop

    def on(self, title: str, host: Host) -> str:
        """Return the path of its program on a host; raises ``SystemFault`` if the host lacks it."""
        path = host.which([self.program])[self.program]
        if path is None:
            raise self.missing(title, host)
        return path

    def missing(self, title: str, host: Host) -> SystemFault:
        """Return the fault of a host that lacks it, and what to do; ``title`` names it there."""
        if self.by_hand:
            where = "" if host.name == HERE else f" on {host.name}"
            return SystemFault(f"{title} is not installed{where}: {self.by_hand}")
        if host.name == HERE:
            return SystemFault(f"{title} is not installed: {self.install}")
        return SystemFault(
            f"{title} is not installed on {host.name}: {self.install}, there; or prepare all hosts:"
            " mqperf hosts prepare"
        )
