"""The hosts at both ends of a link, as network namespaces of this machine."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts import Host, Hosts
from mqperf.plan import LinkPoint

NAMESPACES = ("net", "pid")
ASK = "cat /proc/sys/kernel/random/boot_id; cd /proc/self/ns; readlink " + " ".join(NAMESPACES)
"""Command that identifies a kernel, and the namespaces of a process on it."""

LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """A host at an end of a link, and a process of this machine in the host's namespaces."""

    host: Host
    pid: int

    @property
    def network(self) -> str:
        """The path of its network namespace."""
        return f"/proc/{self.pid}/ns/net"


Ends = tuple[tuple[LinkEnd, ...], tuple[LinkEnd, ...]]


def both(link: LinkPoint, hosts: Hosts) -> str | None:
    """Return a problem if a host is at both ends; else None."""
    first, second = ({host.name for host in hosts.of(role)} for role in link.between)
    shared = sorted(first & second)
    if not shared:
        return None
    names = ", ".join(shared)
    verb = "are" if shared[1:] else "is"
    return f"{names} {verb} at both ends: it needs hosts: laboratory, where each role has its own"


def found(link: LinkPoint, hosts: Hosts) -> Ends | str:
    """Return the hosts of both ends as namespaces of this machine, or a problem with a host."""
    pids = _namespaces()
    ours = _namespaces_of(Path("/proc/self"))
    networks: dict[str, str] = {}
    ends: list[list[LinkEnd]] = []
    for role in link.between:
        ends.append([])
        for host in hosts.of(role):
            kernel, *links = host.run(["sh", "-c", ASK], timeout_s=LIMIT_S).stdout.split() or [""]
            namespaces = tuple(links)
            if kernel != _kernel() or namespaces not in pids or namespaces[:1] == ours[:1]:
                return f"{host.name} is no namespace of this machine: it needs hosts: laboratory"
            if (other := networks.setdefault(namespaces[0], host.name)) != host.name:
                return f"{host.name} and {other} share a network: it needs hosts: laboratory"
            ends[-1].append(LinkEnd(host, pids[namespaces]))
    return tuple(ends[0]), tuple(ends[1])


def pairs(ends: Ends) -> Iterator[tuple[Host, Host]]:
    """Yield pairs of hosts, one of each end, so that every host occurs."""
    first, second = ([place.host for place in end] for end in ends)
    for number in range(max(len(first), len(second))):
        yield first[number % len(first)], second[number % len(second)]


def _kernel() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _namespaces() -> dict[tuple[str, ...], int]:
    """Return, by pair of namespaces on this machine, the id of their oldest process.

    The lowest id would not do: ids wrap around, so it may be of a command that ends soon.
    """
    oldest: dict[tuple[str, ...], tuple[int, int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is not ours to see
            namespaces, started = _namespaces_of(entry), (_started(entry), int(entry.name))
            oldest[namespaces] = min(started, oldest.get(namespaces, started))
    return {namespaces: pid for namespaces, (_, pid) in oldest.items()}


def _started(process: Path) -> int:
    """Return the start of a process, in ticks since the boot of the machine."""
    return int((process / "stat").read_text().rpartition(")")[2].split()[19])


def _namespaces_of(process: Path) -> tuple[str, ...]:
    return tuple(str((process / "ns" / name).readlink()) for name in NAMESPACES)
