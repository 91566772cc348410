"""Hosts in namespaces of this machine, to try on one machine what needs several.

Each host has its own address, sshd, processes, network, host name and temporary files.  All are
below one process, the first of a PID namespace, which dies with this one: the kernel then kills all
processes of the laboratory and removes its network.
"""

import os
import random
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from mqperf.base import processes
from mqperf.base.errors import HostError
from mqperf.base.one_line import one_line
from mqperf.base.processes.piped import Piped, piped
from mqperf_laboratory.hosts import configuration

NETWORKS = 256
"""198.18.0.0/16 is reserved for measurements (RFC 2544); a laboratory takes a 256th of it."""

OWN = 254
"""The controller's number in the network of a laboratory."""

LARGEST = 200
START_LIMIT_S = 60
COMMAND_LIMIT_S = 20
SSHD = "/usr/sbin/sshd"
PACKAGES = {
    SSHD: "openssh-server",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "ip": "iproute2",
    "unshare": "util-linux",
}
NAMESPACES = (
    "unshare",
    "--fork",
    "--kill-child=KILL",
    "--pid",
    "--mount",
    "--mount-proc",
    "--net",
    "--uts",
)


@dataclass(frozen=True, slots=True)
class Laboratory:
    """Running hosts: their inventory, and control over the cables between them."""

    names: tuple[str, ...]
    network: str
    folder: Path
    inventory: Path
    _inside: Piped

    def address(self, name: str) -> str:
        """Return the address of a host."""
        return f"{self.network}.{self.names.index(name) + 1}"

    def cut(self, name: str) -> None:
        """Pull the cable of a host: packets are lost without notice."""
        self._set_link("down", name)

    def mend(self, name: str) -> None:
        """Plug the cable of a host in again."""
        self._set_link("up", name)

    def processes(self, name: str) -> list[psutil.Process]:
        """Return the processes of a host, its sshd first, with their pids on this machine."""
        arguments = [name, self.address(name)]
        within = psutil.Process(self._inside.link.pid).children(recursive=True)
        host = next(process for process in within if _argv(process)[-2:] == arguments)
        return [process for process in host.children(recursive=True) if _runs(process)]

    def _set_link(self, state: str, name: str) -> None:
        self._inside.feed.write(f"{state} {name}\n".encode())
        if self._inside.output.readline() != f"{state}\n".encode():
            raise HostError(_failed(self._inside.complaints()))


def _argv(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def laboratory(
    count: int, roles: configuration.Roles = configuration.USUAL
) -> Iterator[Laboratory]:
    """Run this number of hosts, h1, h2 and so on, within the context, the first in these roles.

    Raise ``HostError`` with the reason if this machine, or its administrator, forbids it.
    """
    _check(count)
    names = tuple(f"h{number}" for number in range(1, count + 1))
    with processes.scratch("laboratory") as folder, _network() as (number, network):
        addresses = {name: f"{network}.{at}" for at, name in enumerate(names, 1)}
        configuration.write(folder, addresses, roles)
        script = Path(__file__).with_name("inside.sh")
        argv = [*NAMESPACES, "sh", str(script), str(folder), network, *names]
        with piped(argv, {**processes.usual_variables(), "PATH": _path()}) as inside:
            _plug_in(inside, f"mqperf{number}", f"{network}.{OWN}/24")
            _await(inside, folder, addresses)
            yield Laboratory(names, network, folder, folder / "inventory.yaml", inside)


def _check(count: int) -> None:
    if not 1 <= count <= LARGEST:
        raise HostError(f"a laboratory has 1 to {LARGEST} hosts, not {count}")
    missing = [name for name in PACKAGES if shutil.which(name, path=_path()) is None]
    if missing:
        packages = " ".join(dict.fromkeys(PACKAGES[name] for name in missing))
        raise HostError(
            f"a laboratory of hosts needs {', '.join(missing)}: apt-get install {packages}"
        )
    if os.geteuid() != 0:
        raise HostError("a laboratory of hosts needs root, who alone may connect namespaces")
    result = processes.run([*NAMESPACES, "true"], timeout_s=COMMAND_LIMIT_S)
    if result.returncode:
        raise HostError(_failed(f"namespaces are forbidden here: {result.stderr}"))


def _path() -> str:
    """Return ``PATH`` with the folders of administrators, which users often lack."""
    return f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


@contextmanager
def _network() -> Iterator[tuple[int, str]]:
    """Claim a network that no other laboratory has; yield its number and first three octets.

    The claim is a socket name, as for blocks of ports, which the kernel frees when we die.
    """
    for number in random.sample(range(NETWORKS), NETWORKS):
        with socket.socket(socket.AF_UNIX) as claim:
            try:
                claim.bind(f"\0mqperf-laboratory-{number}")
            except OSError:
                continue
            yield number, f"198.18.{number}"
            return
    raise HostError(f"{NETWORKS} laboratories of hosts run already: end one")


def _plug_in(inside: Piped, card: str, address: str) -> None:
    """Connect this process's network with the laboratory; the kernel removes the link with it."""
    deadline = time.monotonic() + START_LIMIT_S
    while _network_of(inside.link.pid) in {None, _network_of(os.getpid())}:
        if inside.link.wait() is not None or time.monotonic() > deadline:
            raise HostError(_failed(inside.complaints()))
        time.sleep(0.01)
    for arguments in (
        f"link add {card} type veth peer name outside netns {inside.link.pid}",
        f"addr add {address} dev {card}",
        f"link set {card} up",
    ):
        result = processes.run(
            ["ip", *arguments.split()],
            env={**processes.usual_variables(), "PATH": _path()},
            timeout_s=COMMAND_LIMIT_S,
        )
        if result.returncode:
            raise HostError(_failed(result.stderr))
    inside.feed.write(b"go\n")


def _network_of(pid: int) -> Path | None:
    """Return the network namespace of a process; None if it has ended."""
    try:
        return Path(f"/proc/{pid}/ns/net").readlink()
    except OSError:
        return None


def _await(inside: Piped, folder: Path, addresses: dict[str, str]) -> None:
    """Return when every sshd listens."""
    if inside.output.readline() != b"ready\n":
        raise HostError(_failed(inside.complaints()))
    deadline = time.monotonic() + START_LIMIT_S
    for name, address in addresses.items():
        while not _listens(address):
            if time.monotonic() > deadline:
                log = (folder / f"{name}.log").read_text(errors="replace")
                raise HostError(_failed(f"the sshd of {name} does not listen: {log}"))
            time.sleep(0.02)


def _listens(address: str) -> bool:
    try:
        socket.create_connection((address, 22), timeout=1).close()
    except OSError:
        return False
    return True


def _failed(reason: str) -> str:
    return f"cannot make a laboratory of hosts: {one_line(reason) or 'it ended at once'}"
