"""ZeroMQ as a system under test: clients and servers talk directly, Redis tells them where.

The only process of its own is a private Redis, the matchmaker of oslo.messaging's ZeroMQ driver:
servers write their addresses into it, clients read them before their first message.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import JsonValue

from mqperf.hosts import Host, HostFolder
from mqperf.lab.load import LAUNCHERS, Access, Endpoint
from mqperf.lab.systems.private import OfServers, Servers, Site
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import SystemSettings, checked
from mqperf.lab.systems.system import Deployment, System
from mqperf.lab.tool import Tool
from mqperf.plan import Case

REDIS = Tool("redis-server", "redis-server", packages=("redis-server",), services=("redis-server",))
RELEASE = "zeromq"
LABEL = "Redis"
LIBRARY = "pyzmq"
VERSION_LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class ZeroMQ(OfServers):
    """The deployment: one Redis, and the options of the driver."""

    matchmaker: Endpoint
    redis_version: str

    def provision(self, _case: Case, _run_id: str) -> Access:
        """Give the matchmaker; runs keep apart by their topics."""
        return Access(self.matchmaker, self.matchmaker)

    def clean_up(self, _run_id: str, _queues: Sequence[str]) -> None:
        """Leave the addresses of the run's servers to expire by themselves, after 300 s."""

    def facts(self) -> dict[str, JsonValue]:
        """Versions, and the memory of Redis."""
        return {
            "product": "ZeroMQ",
            "version": f"({LIBRARY} {library_version()})",
            "runtime": f"Redis {self.redis_version}",
            "nodes": [*self.servers.facts()],
        }


def redis_program(host: Host) -> str:
    """Find redis-server; raises ``SystemFault`` with the command that installs it."""
    program = host.which(["redis-server"])["redis-server"]
    if program is None:
        raise REDIS.missing("Redis, the matchmaker for ZeroMQ,", host)
    return program


def redis_version(host: Host) -> str:
    """The version of the installed Redis."""
    answer = host.run([redis_program(host), "--version"], timeout_s=VERSION_LIMIT_S)
    version = re.search(r"v=(\S+)", answer.stdout)
    return version[1] if version else "unknown"


def library_version() -> str:
    """The version of ZeroMQ itself: it is a library, which load generators bring with them."""
    versions = (LAUNCHERS[name].library(driver, LIBRARY) for name, driver in SYSTEM.drivers.items())
    return ", ".join(dict.fromkeys(versions))


def installed(host: Host) -> str:
    """What is installed of ZeroMQ's on a host: Redis."""
    return f"with Redis {redis_version(host)}"


def check(settings: Mapping[str, JsonValue]) -> SystemSettings:
    """Check what a plan says about ZeroMQ."""
    return checked(RELEASE, SystemSettings, settings)


@contextmanager
def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> Iterator[Deployment]:
    """Run a private Redis on the first host, with a password and nothing on disk."""
    timeout_s, host = check(settings).start_timeout_s, host_folders[0].host
    program, version = redis_program(host), redis_version(host)
    password = secrets.token_urlsafe(24)

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[HostFolder]) -> ZeroMQ:
        server = _redis(program, places[0].within("redis"), ports[0], password)
        servers.start([server], timeout_s)
        redis = Endpoint("zmtp", (server.name,), "mqperf", password)
        return ZeroMQ(servers, redis, version)

    def redact(text: str) -> str:
        return text.replace(password, "***")

    with Site("Redis", host_folders, redact=redact).launched(1, launch) as deployment:
        yield deployment


def _redis(program: str, host_folder: HostFolder, port: int, password: str) -> Server:
    config = [
        f"port {port}",
        f"bind {host_folder.host.address}",
        f"requirepass {password}",
        "daemonize no",
        'save ""',
        "appendonly no",
    ]
    return Server(
        label=LABEL,
        name=f"{host_folder.host.address}:{port}",
        host_folder=host_folder,
        argv=(program, "redis.conf"),
        env={"LANG": "C.UTF-8"},
        ready=("Ready to accept connections",),
        taken=("Address already in use",),
        files={"redis.conf": "\n".join(config) + "\n"},
    )


SYSTEM = System(
    name="zeromq",
    title="ZeroMQ",
    topologies=("direct",),
    queues=("none",),
    drivers={"simulator": RELEASE},
    installed=installed,
    check=check,
    start=start,
    tools=(REDIS,),
    labels=lambda _topology, _settings: (LABEL,),
)
