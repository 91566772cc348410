"""Hosts in namespaces of this machine, to try on one machine what needs several.

Each host has its own address, sshd, processes, network, host name and temporary files.  All of them
live below one process, the first of a pid namespace: when it dies, the kernel kills whatever runs
in the laboratory and takes its network down, and it dies with us.
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
"""198.18.0.0/16 is set aside for measurements (RFC 2544): a laboratory takes a 256th of it."""

OWN = 254
"""Our own number in the network of a laboratory."""

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
    """Hosts that run: an inventory that names them, and the cables between them."""

    names: tuple[str, ...]
    network: str
    folder: Path
    inventory: Path
    _inside: Piped

    def address(self, name: str) -> str:
        """The address of a host."""
        return f"{self.network}.{self.names.index(name) + 1}"

    def cut(self, name: str) -> None:
        """Pull the cable of a host: nothing is told to anybody, packets are lost."""
        self._tell("down", name)

    def mend(self, name: str) -> None:
        """Plug it in again."""
        self._tell("up", name)

    def processes(self, name: str) -> list[psutil.Process]:
        """Everything that runs on a host, its sshd first, with the pids of this machine."""
        words = [name, self.address(name)]
        within = psutil.Process(self._inside.link.pid).children(recursive=True)
        host = next(process for process in within if _words(process)[-2:] == words)
        return [process for process in host.children(recursive=True) if _runs(process)]

    def _tell(self, state: str, name: str) -> None:
        self._inside.feed.write(f"{state} {name}\n".encode())
        if self._inside.output.readline() != f"{state}\n".encode():
            raise HostError(_failed(self._inside.complaints()))


def _words(process: psutil.Process) -> list[str]:
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
    """Run so many hosts, h1, h2 and so on, until the end of the block, the first in these roles.

    Raises ``HostError`` with the reason when this machine, or its administrator, does not let us.
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
    tried = processes.run([*NAMESPACES, "true"], timeout_s=COMMAND_LIMIT_S)
    if tried.returncode:
        raise HostError(_failed(f"namespaces are forbidden here: {tried.stderr}"))


def _path() -> str:
    """Where programs are looked for: users often lack the folders of administrators."""
    return f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


@contextmanager
def _network() -> Iterator[tuple[int, str]]:
    """Number and first three parts of a network that no other laboratory has.

    It is claimed as blocks of ports are, by a name that the kernel gives back when we die.
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
    """Lay a cable between us and the laboratory; the kernel removes it together with that."""
    deadline = time.monotonic() + START_LIMIT_S
    while _network_of(inside.link.pid) in {None, _network_of(os.getpid())}:
        if inside.link.wait() is not None or time.monotonic() > deadline:
            raise HostError(_failed(inside.complaints()))
        time.sleep(0.01)
    for words in (
        f"link add {card} type veth peer name outside netns {inside.link.pid}",
        f"addr add {address} dev {card}",
        f"link set {card} up",
    ):
        done = processes.run(
            ["ip", *words.split()],
            env={**processes.usual_variables(), "PATH": _path()},
            timeout_s=COMMAND_LIMIT_S,
        )
        if done.returncode:
            raise HostError(_failed(done.stderr))
    inside.feed.write(b"go\n")


def _network_of(pid: int) -> Path | None:
    """The network namespace of a process; None when it is gone."""
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
