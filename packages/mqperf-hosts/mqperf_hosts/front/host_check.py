"""Whether the hosts of an inventory could run a plan, and how to get what is missing there."""

import shlex
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from mqperf.base.errors import HostError
from mqperf.front.findings import Finding
from mqperf.hosts import inventory
from mqperf.hosts.place import Place
from mqperf.hosts.remote import RemoteHost, attempted, ssh
from mqperf.lab.probes import PROBES
from mqperf.lab.systems import FIRST, OPENSSL, SYSTEMS, System, Tool, lookup

LEAST_ROOM_BYTES = 1_000_000_000
"""Software of the load generators, logs, and the data of a broker that is flooded."""

GIGABYTE = 1e9


def optional() -> tuple[Tool, ...]:
    """What every host may have: for probes, and for the certificates of TLS."""
    return (*(tool for probe in PROBES.values() for tool in probe.tools), OPENSSL)


def needed(systems: Collection[str]) -> tuple[Tool, ...]:
    """What the hosts of brokers must have for these systems; for the first, when none is named."""
    return _tools([lookup(name) for name in systems or [FIRST]])


def known() -> tuple[Tool, ...]:
    """What some system needs, and what hosts may have."""
    return (*_tools(SYSTEMS.values()), *optional())


def _tools(systems: Iterable[System]) -> tuple[Tool, ...]:
    return tuple(dict.fromkeys(tool for system in systems for tool in system.tools))


def examine(path: Path, systems: Collection[str]) -> Iterator[Finding]:
    """Look at every host of the inventory in ``path``: one finding each, in its order.

    One more comes first when mqperf had to bring the Ansible that read the inventory.  Brokers must
    have what these systems need, or, when none is named, the first of all systems.  Raises
    ``HostError`` for an inventory that cannot be read.
    """
    wanted = needed(systems)
    listed = inventory.read(path, programs=True)
    if listed.reader:
        yield Finding("ok", f"{path}: read by {listed.reader}")
    with attempted(listed.places) as hosts:
        for place, host in zip(listed.places, hosts, strict=True):
            try:
                yield _finding(place, host, wanted)
            except HostError as error:
                yield Finding("MISSING", str(error))


def _finding(place: Place, host: RemoteHost | HostError, wanted: Collection[Tool]) -> Finding:
    if isinstance(host, HostError):
        return Finding("MISSING", str(host))
    tools, extra = known(), optional()
    there = host.which([program for tool in tools for program in tool.programs])
    has = [tool for tool in tools if any(there[program] for program in tool.programs)]
    required = [tool for tool in wanted if "broker" in place.groups and tool not in has]
    room_bytes = host.room_bytes()
    facts = host.facts()
    facts_in_words = [
        f"{host.name} ({', '.join(place.groups)}): Python {host.platform.python}",
        f"{facts['cores']} cores",
        f"{room_bytes / GIGABYTE:.1f} GB free",
        f"clock {host.clock().text()}",
        f"round trip {host.round_trip_s() * 1e3:.2f} ms",
        *(tool.name for tool in has if tool in extra or "broker" in place.groups),
        *(
            f"no {tool.name}, which is optional: {_command(place, tool)}"
            for tool in extra
            if tool not in has
        ),
    ]
    problems = [f"{tool.name} is missing: {_command(place, tool)}" for tool in required]
    if room_bytes < LEAST_ROOM_BYTES:
        problems.append(
            f"less than {LEAST_ROOM_BYTES / GIGABYTE:g} GB is free for temporary files: make room,"
            " or name another folder (ansible_remote_tmp)"
        )
    return Finding(
        "MISSING" if problems else "ok", "; ".join([", ".join(facts_in_words), *problems])
    )


def _command(place: Place, tool: Tool) -> str:
    """What to type here to get a program there, or what to do where no package has it."""
    if tool.by_hand:
        return tool.by_hand
    install = tool.install_quietly
    root = install if place.user == "root" else f"sudo sh -c {shlex.quote(install)}"
    return shlex.join(["ssh", *ssh.destination(place), root])
