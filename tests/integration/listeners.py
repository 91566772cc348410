"""Find out who listens at which address."""

import socket

import psutil


def listening(process: psutil.Process) -> set[str]:
    """The addresses on which a process listens."""
    connections = process.net_connections("inet")
    return {c.laddr[0] for c in connections if c.status == psutil.CONN_LISTEN}


def accepts(address: str) -> bool:
    """Whether a connection to ``host:port`` is accepted."""
    host, _, port = address.partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0
