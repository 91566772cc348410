"""ZeroMQ as a system under test: clients and servers talk directly, Redis has their addresses.

The only process of its own is a private Redis, the matchmaker of oslo.messaging's ZeroMQ driver:
servers write their addresses into it, clients read them before their first message.  There may be
``replicas`` of it, but the driver uses the first one only, and no Redis Sentinel.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from pydantic import Field, JsonValue

from mqperf.hosts import Host, HostFolder
from mqperf.lab.load import LAUNCHERS, Access, Endpoint
from mqperf.lab.systems.private import PrivateDeployment, ServerLauncher, Servers
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import SystemSettings, VersionAsked, checked
from mqperf.lab.systems.system import Deployment, System
from mqperf.lab.tool import Tool
from mqperf.plan import Case
from mqperf_software.lab.product import Product
from mqperf_zeromq.lab.oslo import PROTOCOL, RELEASE

LABEL, REPLICA = "Redis", "Replica"
LIBRARY = "pyzmq"
VERSION_LIMIT_S = 60
COPIED = "sync: Finished with success"
"""The log line of a replica that has copied the first Redis."""


class RedisSettings(SystemSettings):
    """Settings of ZeroMQ in a plan.

    ``redis`` is a version of Redis in quotes, ``8.0`` for any 8.0.x; None is the installed one.
    """

    redis: VersionAsked | None = None
    replicas: int = Field(0, ge=0, le=9, strict=True)


@dataclass(frozen=True, slots=True)
class ZeroMQ(PrivateDeployment):
    """The deployment: one Redis, and its replicas."""

    matchmaker: Endpoint

    def provision(self, _case: Case, _run_id: str) -> Access:
        """Return the access to the matchmaker; runs are isolated by their topics."""
        return Access(self.matchmaker, self.matchmaker)

    def clean_up(self, _run_id: str, _queues: Sequence[str]) -> None:
        """Do nothing: the addresses of the run's servers expire after 300 s."""


def redis_version(host: Host) -> str:
    """Return the version of the installed Redis; raises ``SystemFault`` with what installs it."""
    return _version(host, (REDIS.tool.on(REDIS.title, host), "--version"))


def _version(host: Host, command: Sequence[str]) -> str:
    result = host.run(command, timeout_s=VERSION_LIMIT_S)
    version = re.search(r"v=(\S+)", result.stdout)
    return version[1] if version else "unknown"


REDIS = Product(
    "Redis, the matchmaker for ZeroMQ,",
    Tool("redis-server", "redis-server", packages=("redis-server",), services=("redis-server",)),
    redis_version,
)


def library_version() -> str:
    """Return the version of ZeroMQ itself, a library that load generators include."""
    versions = (LAUNCHERS[name].library(driver, LIBRARY) for name, driver in SYSTEM.drivers.items())
    return ", ".join(dict.fromkeys(versions))


def installed(host: Host) -> str:
    """Return what is installed on a host for ZeroMQ: Redis."""
    return f"with Redis {redis_version(host)}"


def check(settings: Mapping[str, JsonValue]) -> RedisSettings:
    """Check what a plan says about ZeroMQ."""
    return checked("zeromq", RedisSettings, settings)


def queue_kind(asked: str, settings: Mapping[str, JsonValue], host: Host) -> str:
    """Return the requested kind of queue; raises ``SystemFault`` if Redis is not available."""
    REDIS.lacks(host, check(settings).redis)
    return asked


def labels(_topology: str, settings: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the labels of the nodes: the matchmaker, and its replicas."""
    replicas = check(settings).replicas
    return (LABEL, *(f"{REPLICA} {number}" for number in range(1, replicas + 1)))


def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> AbstractContextManager[Deployment]:
    """Run a private Redis on the first host, with a password and nothing on disk.

    Replicas are on the next hosts; they are up when they have copied the first one.
    """
    names, wanted = labels("", settings), check(settings)

    def command(place: HostFolder, *arguments: str) -> tuple[str, ...]:
        return REDIS.command(place.host, wanted.redis, *arguments, shown=place.folder)

    version = _version(host_folders[0].host, command(host_folders[0], "--version"))
    about: dict[str, JsonValue] = {
        "product": "ZeroMQ",
        "version": f"({LIBRARY} {library_version()})",
        "runtime": f"Redis {version}",
    }
    password = secrets.token_urlsafe(24)

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[HostFolder]) -> ZeroMQ:
        first = f"{places[0].host.address} {ports[0]}"
        copying: list[str] = []
        for label, port, place in zip(names, ports, places, strict=True):
            folder = place.within(label.lower().replace(" ", ""))
            lines = [f"bind {place.host.address}", f"requirepass {password}", *copying]
            server = _redis(command(folder, "redis.conf"), label, folder, port, lines)
            servers.start([server], wanted.start_timeout_s)
            copying = [f"replicaof {first}", f"masterauth {password}"]
        address = first.replace(" ", ":")
        return ZeroMQ(servers, about, Endpoint(PROTOCOL, (address,), "mqperf", password))

    def redact(text: str) -> str:
        return text.replace(password, "***")

    return ServerLauncher("Redis", host_folders, len(names), redact).launched(len(names), launch)


def _redis(
    argv: tuple[str, ...], label: str, host_folder: HostFolder, port: int, lines: Sequence[str]
) -> Server:
    """Return a server with these lines in its settings; a replica is ready when it has copied."""
    config = [f"port {port}", *lines, "daemonize no", 'save ""', "appendonly no"]
    return Server(
        label=label,
        name=f"{host_folder.host.address}:{port}",
        host_folder=host_folder,
        argv=argv,
        env={"LANG": "C.UTF-8"},
        ready=("Ready to accept connections",) if label == LABEL else (COPIED,),
        taken=("Address already in use",),
        files={"redis.conf": "\n".join(config) + "\n"},
    )


SYSTEM = System(
    name="zeromq",
    title="ZeroMQ",
    topologies=("direct",),
    queues=("none",),
    drivers={"simulator": RELEASE.name},
    installed=installed,
    queue_kind=queue_kind,
    check=check,
    start=start,
    tools=(REDIS.tool,),
    getting=lambda settings, hosts: REDIS.getting(hosts, check(settings).redis),
    labels=labels,
)
