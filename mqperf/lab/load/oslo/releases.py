"""The releases of oslo.messaging whose simulator is used, each for what it can talk to."""

import re
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import LoadError

LOCKS = Path(__file__).with_name("locks")


@dataclass(frozen=True, slots=True)
class Release:
    """A release of oslo.messaging with its simulator, and all that it needs, by exact version.

    ``lock`` names a file in ``locks/``, ``repairs`` the functions of the shim that it needs, and
    ``tools`` says what must be installed to compile what comes without compiled code.
    """

    name: str
    version: str
    lock: str
    sdist_sha256: str
    repairs: tuple[str, ...]
    why: str
    tools: str = ""


RELEASES: dict[str, Release] = {
    "rabbitmq": Release(
        name="rabbitmq",
        version="18.3.1",
        lock="rabbitmq.txt",
        sdist_sha256="28831b36096d74da5cd1370ef25b4719aaca627d94785a67a9838a480ce7ee3a",
        repairs=("queue-manager-place",),
        why="current; releases 14.9 to 18.1 wait 0.5 s for every CALL (Launchpad bug 2035113)",
    ),
    "zeromq": Release(
        name="zeromq",
        version="8.1.4",
        lock="zeromq.txt",
        sdist_sha256="c91626c5075620265db6c7050409b675c65b41df2308c3ece1da47c9bc935b67",
        repairs=("abstract-collections", "zmq-call-monitor", "whole-topic"),
        why="the last series with a ZeroMQ driver",
    ),
    "amqp": Release(
        name="amqp",
        version="14.9.3",
        lock="amqp.txt",
        sdist_sha256="0b7247700f97269aba077bad48fc06d194dd0e9bf3188fd7aa607a8dfa0bebde",
        repairs=("amqp-expiry", "amqp-warnings", "amqp-first-host"),
        why="the last series with an AMQP 1.0 driver",
        tools="a C compiler and Python's headers (sudo apt-get install gcc libc6-dev python3-dev)",
    ),
}


def find(name: str) -> Release:
    """The release of that name; raises `LoadError` listing the known ones."""
    if name not in RELEASES:
        raise LoadError(f"No simulator release {name!r}; there are: {', '.join(RELEASES)}.")
    return RELEASES[name]


def pinned(name: str, distribution: str) -> str:
    """The version of a distribution that the lock of a release names."""
    lock = (LOCKS / find(name).lock).read_text()
    pin = re.search(rf"^{re.escape(distribution)}==(\S+)", lock, re.MULTILINE)
    if pin is None:
        raise LoadError(f"{LOCKS / find(name).lock}: does not name {distribution}; renew the locks")
    return pin[1]
