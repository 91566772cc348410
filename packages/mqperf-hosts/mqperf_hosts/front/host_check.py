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
"""Least free space: for load generators, logs, and the data of a flooded broker."""

GIGABYTE = 1e9


def optional() -> tuple[Tool, ...]:
    """Return the tools that any host may have: for probes, and for certificates."""
    return (*(tool for probe in PROBES.values() for tool in probe.tools), OPENSSL)


def needed(systems: Collection[str]) -> tuple[Tool, ...]:
    """Return the tools that broker hosts must have for these systems, or else for the first one."""
    return _tools([lookup(name) for name in systems or [FIRST]])


def known() -> tuple[Tool, ...]:
    """Return the tools of all systems, and the optional ones."""
    return (*_tools(SYSTEMS.values()), *optional())


def _tools(systems: Iterable[System]) -> tuple[Tool, ...]:
    return tuple(dict.fromkeys(tool for system in systems for tool in system.tools))


def examine(path: Path, systems: Collection[str]) -> Iterator[Finding]:
    """Check every host of the inventory in ``path``; yield a finding each, in its order.

    Another one comes first when mqperf had to provide the Ansible that read the inventory.  Broker
    hosts must have what these systems need, or, when none is named, the first of all systems.
    Raise ``HostError`` for an inventory that cannot be read.
    """
    broker_tools = needed(systems)
    listed = inventory.read(path, programs=True)
    if listed.reader:
        yield Finding("ok", f"{path}: read by {listed.reader}")
    with attempted(listed.places) as hosts:
        for place, host in zip(listed.places, hosts, strict=True):
            try:
                yield _finding(place, host, broker_tools)
            except HostError as error:
                yield Finding("MISSING", str(error))


def _finding(place: Place, host: RemoteHost | HostError, broker_tools: Collection[Tool]) -> Finding:
    if isinstance(host, HostError):
        return Finding("MISSING", str(host))
    tools, extra = known(), optional()
    found = host.which([program for tool in tools for program in tool.programs])
    present = [tool for tool in tools if any(found[program] for program in tool.programs)]
    missing = [tool for tool in broker_tools if "broker" in place.groups and tool not in present]
    room_bytes = host.room_bytes()
    facts = host.facts()
    facts_in_words = [
        f"{host.name} ({', '.join(place.groups)}): Python {host.platform.python}",
        f"{facts['cores']} cores",
        f"{room_bytes / GIGABYTE:.1f} GB free",
        f"clock {host.clock().text()}",
        f"round trip {host.round_trip_s() * 1e3:.2f} ms",
        *(tool.name for tool in present if tool in extra or "broker" in place.groups),
        *(
            f"no {tool.name}, which is optional: {_command(place, tool)}"
            for tool in extra
            if tool not in present
        ),
    ]
    problems = [f"{tool.name} is missing: {_command(place, tool)}" for tool in missing]
    if room_bytes < LEAST_ROOM_BYTES:
        problems.append(
            f"less than {LEAST_ROOM_BYTES / GIGABYTE:g} GB is free for temporary files: make room,"
            " or name another folder (ansible_remote_tmp)"
        )
    return Finding(
        "MISSING" if problems else "ok", "; ".join([", ".join(facts_in_words), *problems])
    )


def _command(place: Place, tool: Tool) -> str:
    """Return the command to install a tool on a host, or what to do where no package has it."""
    if tool.by_hand:
        return tool.by_hand
    install = tool.install_quietly
    root = install if place.user == "root" else f"sudo sh -c {shlex.quote(install)}"
    return shlex.join(["ssh", *ssh.destination(place), root])
