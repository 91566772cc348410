"""RabbitMQ as it is on a host: installed, in a folder of its archive, or in a software root."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import SystemFault
from mqperf.base.packages import package_of
from mqperf.base.releases import is_of, parsed
from mqperf.hosts import Host
from mqperf.hosts.software import SOURCES, Root, Source
from mqperf.lab.systems.rabbitmq.settings import Settings
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


def obtainable(host: Host, settings: Settings) -> str:
    """The version that these settings ask for, as far as it is known before it is there.

    Raises ``SystemFault``, with what to do, where the host has none and cannot get it.
    """
    there = _there(host, settings)
    return str(settings.version) if there is None else there.version


def getting(settings: Settings, hosts: Sequence[Host]) -> Iterator[str]:
    """Make what the hosts lack; it says what, before each."""
    for host in hosts:
        if _there(host, settings) is None:
            version = str(settings.version)
            yield f"getting RabbitMQ {version}, which takes minutes, once"
            _source(version).make(host, TOOL.name, version)


def installed(host: Host, settings: Settings) -> Installation:
    """The RabbitMQ that these settings ask for, once it is got; raises as ``obtainable`` does."""
    if (there := _there(host, settings)) is None:
        raise SystemFault(f"RabbitMQ {settings.version} is not there any more: run it again")
    return there


def installed_version(host: Host) -> str:
    """The version of the installed package."""
    return _package(host).version


def _there(host: Host, settings: Settings) -> Installation | None:
    """What a host has for these settings, None where it must be made.

    Raises ``SystemFault`` where there is none, and none can be made.
    """
    if settings.home is not None:
        how = f"give home the folder of its archive on {host.name}"
        return _with_erlang(host, settings.home / "sbin", how)
    version = settings.version
    if version is None:
        return _package(host)
    if (package := _as_asked(host, version)) is not None:
        return package
    root = _source(version).find(host, TOOL.name, version)
    if root is None:
        return None
    folder = root.folder / PROGRAM.parent.relative_to("/")
    return Installation(PROGRAM.parent, _version(host, folder), root)


def _source(version: str) -> Source:
    """Where versions come from that are not installed."""
    for source in SOURCES.values():
        return source
    raise SystemFault(
        f"RabbitMQ {version} is not what is installed: install it, or"
        f" {package_of('mqperf software')}, which gets versions beside the installed one"
    )


def _as_asked(host: Host, version: str) -> Installation | None:
    """The installed package, if it is of this version."""
    try:
        package = _package(host)
    except SystemFault:
        return None
    return package if is_of(package.version, version) else None


def _package(host: Host) -> Installation:
    """The installed package: not by the wrapper on the PATH, which changes the user."""
    wrapper = host.which(["rabbitmq-server"])["rabbitmq-server"]
    if wrapper is None:
        raise TOOL.missing("RabbitMQ", host)
    # On Debian the wrapper is a link which leads to the folder of the real programs.
    leads_to = host.run(["readlink", "-f", wrapper], timeout_s=TIMEOUT_S).stdout.strip()
    return _with_erlang(host, Path(leads_to or wrapper).parent, TOOL.install)


def _with_erlang(host: Host, folder: Path, repair: str) -> Installation:
    """What the folder of programs belongs to, on a host that has an Erlang to run it."""
    if "rabbitmq-env" not in host.names(folder):
        raise SystemFault(f"{folder} is no folder of programs of RabbitMQ: {repair}")
    for program, there in host.which(["erl", "epmd"]).items():
        if there is None:
            raise TOOL.missing(f"Erlang's {program}", host)
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
