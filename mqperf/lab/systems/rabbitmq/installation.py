"""RabbitMQ as it is on a host: installed, in a folder of its archive, or in a software root."""

from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import SystemFault
from mqperf.base.releases import parsed
from mqperf.hosts import Host
from mqperf.hosts.software import Root
from mqperf.lab.tool import Tool

TOOL = Tool(
    "rabbitmq-server",
    "/usr/lib/rabbitmq/bin/rabbitmq-server",
    packages=("rabbitmq-server",),
    services=("rabbitmq-server", "epmd.socket", "epmd"),
)
PROGRAM = Path(TOOL.program)
TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Installation:
    """The folder of its programs, its version, and the root in which it is, if it is in one."""

    folder: Path
    version: str
    root: Root | None = None

    def command(self, program: str, *arguments: str, shown: Path) -> tuple[str, ...]:
        """The command that runs a program of RabbitMQ, for which ``shown`` is all that matters."""
        return self.erlang(str(self.folder / program), *arguments, shown=shown)

    def erlang(self, *argv: str, shown: Path) -> tuple[str, ...]:
        """The same of any program that comes with it, such as Erlang's."""
        return argv if self.root is None else self.root.command(argv, shown)


def installed_version(host: Host) -> str:
    """The version of the installed package."""
    return package(host).version


def package(host: Host) -> Installation:
    """The installed package: not by the wrapper on the PATH, which changes the user."""
    wrapper = host.which(["rabbitmq-server"])["rabbitmq-server"]
    if wrapper is None:
        raise TOOL.missing("RabbitMQ", host)
    for program, there in host.which(["erl", "epmd"]).items():
        if there is None:
            raise TOOL.missing(f"Erlang's {program}", host)
    # On Debian the wrapper is a link which leads to the folder of the real programs.
    leads_to = host.run(["readlink", "-f", wrapper], timeout_s=TIMEOUT_S).stdout.strip()
    return in_folder(host, Path(leads_to or wrapper).parent, TOOL.install)


def in_folder(host: Host, folder: Path, repair: str) -> Installation:
    """What a folder of programs of a host belongs to; ``repair`` says what to do if it is none."""
    if "rabbitmq-env" not in host.names(folder):
        raise SystemFault(f"{folder} is no folder of programs of RabbitMQ: {repair}")
    return Installation(folder, _version(host, folder))


def _version(host: Host, folder: Path) -> str:
    """The version by the name of a folder: starting Erlang takes half a second.

    A package has folders by version beside that of its programs, an archive its plugins.
    """
    beside = [("lib", "rabbitmq_server-"), ("plugins", "rabbit-")]
    for name, prefix in beside:
        if name in host.names(folder.parent):
            names = host.names(folder.parent / name)
            if versions := [each.removeprefix(prefix) for each in names if each.startswith(prefix)]:
                return max(versions, key=parsed)
    raise SystemFault(f"{folder.parent} holds no RabbitMQ: {TOOL.install}")
