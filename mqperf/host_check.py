"""Whether the hosts of an inventory could run a plan, and how to get what is missing there."""

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mqperf.doctor import Finding
from mqperf.errors import HostError
from mqperf.hosts import inventory
from mqperf.hosts.place import Place
from mqperf.hosts.remote import RemoteHost, attempted, ssh
from mqperf.systems import FIRST, lookup

LEAST_ROOM_BYTES = 1_000_000_000
"""Software of the load generators, logs, and the data of a broker that is flooded."""

GIGABYTE = 1e9


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that a host may need; ``after`` follows its installation."""

    name: str
    program: str
    package: str
    after: str = ""


RABBITMQ = Tool(
    "rabbitmq-server",
    "/usr/lib/rabbitmq/bin/rabbitmq-server",
    "rabbitmq-server",
    " && systemctl disable --now rabbitmq-server",
)
REDIS = Tool(
    "redis-server", "redis-server", "redis-server", " && systemctl disable --now redis-server"
)
JAVA = Tool("java", "java", "default-jre-headless")
ATOP = Tool("atop", "atop", "atop")

NEEDS: Mapping[str, tuple[Tool, ...]] = {
    "rabbitmq": (RABBITMQ,),
    "zeromq": (REDIS,),
    "activemq": (JAVA,),
    "activemq-leveldb": (JAVA,),
    "artemis": (JAVA,),
    "artemis-ha": (JAVA,),
}
"""What the hosts of brokers need by system; a system of another package is not looked at."""

TOOLS = (RABBITMQ, REDIS, JAVA, ATOP)


def examine(path: Path, systems: Collection[str]) -> Iterator[Finding]:
    """Look at every host of the inventory in ``path``: one finding each, in its order.

    Brokers must have what these systems need, or, when none is named, the first of all systems.
    Raises ``HostError`` for an inventory that cannot be read.
    """
    wanted = [lookup(name).name for name in systems or [FIRST]]
    needed = {tool for name in wanted for tool in NEEDS.get(name, ())}
    places = inventory.read(path).places
    with attempted(places) as found:
        for place, host in zip(places, found, strict=True):
            try:
                yield _finding(place, host, needed)
            except HostError as error:
                yield Finding("MISSING", str(error))


def _finding(place: Place, host: RemoteHost | HostError, needed: Collection[Tool]) -> Finding:
    if isinstance(host, HostError):
        return Finding("MISSING", str(host))
    there = host.which([tool.program for tool in TOOLS])
    has = [tool for tool in TOOLS if there[tool.program]]
    required = [tool for tool in needed if "broker" in place.groups and tool not in has]
    room_bytes = host.room_bytes()
    facts = host.facts()
    facts_in_words = [
        f"{host.name} ({', '.join(place.groups)}): Python {host.python}",
        f"{facts['cores']} cores",
        f"{room_bytes / GIGABYTE:.1f} GB free",
        f"clock {host.clock().text()}",
        f"round trip {host.round_trip_s() * 1e3:.2f} ms",
        *(tool.name for tool in has if tool is ATOP or "broker" in place.groups),
    ]
    problems = [f"{tool.name} is missing: {_command(place, tool)}" for tool in required]
    if room_bytes < LEAST_ROOM_BYTES:
        problems.append(
            f"less than {LEAST_ROOM_BYTES / GIGABYTE:g} GB is free for temporary files: make room,"
            " or name another folder (ansible_remote_tmp)"
        )
    if ATOP not in has:
        facts_in_words.append(f"no atop, which is optional: {_command(place, ATOP)}")
    return Finding(
        "MISSING" if problems else "ok", "; ".join([", ".join(facts_in_words), *problems])
    )


def _command(place: Place, tool: Tool) -> str:
    """What to type here to get a program there."""
    install = f"apt-get install --yes --no-install-recommends {tool.package}{tool.after}"
    root = install if place.user == "root" else f"sudo sh -c {shlex.quote(install)}"
    return shlex.join(["ssh", *ssh.destination(place), root])
