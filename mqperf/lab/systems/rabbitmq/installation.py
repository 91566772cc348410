"""RabbitMQ on a host: a package, an unpacked archive, or in a software root."""

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
    """The folder of its programs, its version, and its software root, if it is in one."""

    folder: Path
    version: str
    root: Root | None = None

    def command(self, program: str, *arguments: str, shown: Path) -> tuple[str, ...]:
        """Return the command of a RabbitMQ program, which needs access to the folder ``shown``."""
        return self.erlang(str(self.folder / program), *arguments, shown=shown)

    def erlang(self, *argv: str, shown: Path) -> tuple[str, ...]:
        """Return the command of any program that comes with it, such as Erlang's."""
        return argv if self.root is None else self.root.command(argv, shown)


def installed_version(host: Host) -> str:
    """Return the version of the installed package."""
    return package(host).version


def package(host: Host) -> Installation:
    """Return the installed package, without the wrapper on the PATH, which changes the user."""
    wrapper = host.which(["rabbitmq-server"])["rabbitmq-server"]
    if wrapper is None:
        raise TOOL.missing("RabbitMQ", host)
    for program, path in host.which(["erl", "epmd"]).items():
        if path is None:
            raise TOOL.missing(f"Erlang's {program}", host)
    # On Debian the wrapper is a link to a file in the folder of the real programs.
    target = host.run(["readlink", "-f", wrapper], timeout_s=TIMEOUT_S).stdout.strip()
    return in_folder(host, Path(target or wrapper).parent, TOOL.install)


def in_folder(host: Host, folder: Path, repair: str) -> Installation:
    """Return the installation of a folder of programs; ``repair`` says what to do if it is none."""
    if "rabbitmq-env" not in host.names(folder):
        raise SystemFault(f"{folder} is not a folder of RabbitMQ's programs: {repair}")
    return Installation(folder, _version(host, folder))


def _version(host: Host, folder: Path) -> str:
    """Return the version from folder names, since starting Erlang takes half a second.

    A package has ``lib/rabbitmq_server-VERSION``, an archive ``plugins/rabbit-VERSION``.
    """
    prefixes = [("lib", "rabbitmq_server-"), ("plugins", "rabbit-")]
    for name, prefix in prefixes:
        if name in host.names(folder.parent):
            names = host.names(folder.parent / name)
            if versions := [each.removeprefix(prefix) for each in names if each.startswith(prefix)]:
                return max(versions, key=parsed)
    raise SystemFault(f"{folder.parent} holds no RabbitMQ: {TOOL.install}")
