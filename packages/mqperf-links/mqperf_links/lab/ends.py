"""The hosts at both ends of a link, and the network namespaces of this machine that they are."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts import Host, Hosts
from mqperf.plan import LinkPoint

NAMESPACES = ("net", "pid")
ASK = "cat /proc/sys/kernel/random/boot_id; cd /proc/self/ns; readlink " + " ".join(NAMESPACES)
"""What tells a kernel from all others, and namespaces of it from the others."""

LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """A host at an end of a link, and a process of this machine that is in its namespaces."""

    host: Host
    pid: int

    @property
    def network(self) -> str:
        """The path of its network namespace."""
        return f"/proc/{self.pid}/ns/net"


Ends = tuple[tuple[LinkEnd, ...], tuple[LinkEnd, ...]]


def both(link: LinkPoint, hosts: Hosts) -> str | None:
    """The sentence about a host that is at both ends; None when there is none."""
    first, second = ({host.name for host in hosts.of(role)} for role in link.between)
    shared = sorted(first & second)
    if not shared:
        return None
    names = ", ".join(shared)
    are = "are" if shared[1:] else "is"
    return f"{names} {are} at both ends: it needs hosts: laboratory, where each role has its own"


def found(link: LinkPoint, hosts: Hosts) -> Ends | str:
    """The hosts of either end as namespaces of this machine; or a sentence about who is none."""
    pids = _namespaces()
    ours = _told_by(Path("/proc/self"))
    seen: dict[str, str] = {}
    ends: list[list[LinkEnd]] = []
    for role in link.between:
        ends.append([])
        for host in hosts.of(role):
            kernel, *links = host.run(["sh", "-c", ASK], timeout_s=LIMIT_S).stdout.split() or [""]
            namespaces = tuple(links)
            if kernel != _kernel() or namespaces not in pids or namespaces[:1] == ours[:1]:
                return f"{host.name} is no namespace of this machine: it needs hosts: laboratory"
            if (other := seen.setdefault(namespaces[0], host.name)) != host.name:
                return f"{host.name} and {other} share a network: it needs hosts: laboratory"
            ends[-1].append(LinkEnd(host, pids[namespaces]))
    return tuple(ends[0]), tuple(ends[1])


def pairs(ends: Ends) -> Iterator[tuple[Host, Host]]:
    """Pairs of hosts, one of either end, in which every host occurs."""
    first, second = ([place.host for place in end] for end in ends)
    for number in range(max(len(first), len(second))):
        yield first[number % len(first)], second[number % len(second)]


def _kernel() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _namespaces() -> dict[tuple[str, ...], int]:
    """A process of this machine for each pair of namespaces that there is: the oldest of them.

    Ids of processes begin anew after the highest: a low one may be of a command that ends now.
    """
    oldest: dict[tuple[str, ...], tuple[int, int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is not ours to see
            namespaces, started = _told_by(entry), (_started(entry), int(entry.name))
            oldest[namespaces] = min(started, oldest.get(namespaces, started))
    return {namespaces: pid for namespaces, (_, pid) in oldest.items()}


def _started(process: Path) -> int:
    """When it was, in ticks since the start of the machine."""
    return int((process / "stat").read_text().rpartition(")")[2].split()[19])


def _told_by(process: Path) -> tuple[str, ...]:
    return tuple(str((process / "ns" / name).readlink()) for name in NAMESPACES)
