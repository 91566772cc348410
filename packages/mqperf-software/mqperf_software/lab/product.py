"""A broker in the version that a plan requests: installed on a host, or in a software root."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import SystemFault
from mqperf.base.releases import is_of
from mqperf.hosts import Host
from mqperf.hosts.software import Root
from mqperf.lab.tool import Tool
from mqperf_software.hosts import debian


@dataclass(frozen=True, slots=True)
class Product:
    """A product that hosts have installed in one version, and may have in others in software roots.

    ``installed`` returns the version that is installed on a host, or raises ``SystemFault``.  A
    requested version is such as ``4.3``, for any 4.3.x; None is whatever is installed.
    """

    title: str
    tool: Tool
    installed: Callable[[Host], str]

    def lacks(self, host: Host, version: str | None) -> bool:
        """Whether a host must get a version first; raise ``SystemFault`` where it cannot."""
        return (
            not self._suits(host, version)
            and debian.find(host, self.tool.name, str(version)) is None
        )

    def getting(self, hosts: Sequence[Host], version: str | None) -> Iterator[str]:
        """Make the roots that hosts lack; yield a message before each."""
        for host in hosts:
            if self.lacks(host, version):
                yield f"getting {self.title} {version}, which takes minutes, once"
                debian.make(host, self.tool.name, str(version))

    def root(self, host: Host, version: str | None) -> Root | None:
        """Return a host's root with a version, None if it is installed; raise ``SystemFault``."""
        if self._suits(host, version):
            return None
        if (root := debian.find(host, self.tool.name, str(version))) is None:
            raise SystemFault(f"{self.title} {version} is not there any more: run it again")
        return root

    def command(
        self, host: Host, version: str | None, *arguments: str, shown: Path
    ) -> tuple[str, ...]:
        """Return the command for the program; of the host's files it needs ``shown`` only."""
        if (root := self.root(host, version)) is None:
            return (self.tool.on(self.title, host), *arguments)
        return root.command((self.tool.program, *arguments), shown)

    def _suits(self, host: Host, version: str | None) -> bool:
        """Whether the installed version is the requested one."""
        try:
            installed = self.installed(host)
        except SystemFault:
            if version is None:
                raise
            return False
        return version is None or is_of(installed, version)
