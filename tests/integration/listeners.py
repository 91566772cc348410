"""Who listens, and where."""

import socket

import psutil


def listening(process: psutil.Process) -> set[str]:
    """The addresses at which a process listens."""
    connections = process.net_connections("inet")
    return {c.laddr[0] for c in connections if c.status == psutil.CONN_LISTEN}


def accepts(address: str) -> bool:
    """Whether anybody does at ``host:port``."""
    host, _, port = address.partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0
