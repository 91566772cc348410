"""Cut connections of clients to a server of this host, in the kernel, when a signal comes.

Both ends learn of it: clients by a reset, the server by an error.  The argument is JSON: the id of
the ``server``'s process, ``ports`` that clients may connect to, and the ``share`` of connections or
the ``count`` to cut.  Prints ``ready``, or the reason; after the signal SIGUSR1, as JSON, how many
``connections`` there were, and how many it ``cut``.
"""

import json
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

LIMIT_S = 10
AT_ONCE = 200
"""Connections in one filter: the kernel accepts no filter of more than 64 kB."""


class Connection(NamedTuple):
    """The addresses of both ends, as ``ss`` prints them: ours, and the peer's."""

    here: str
    peer: str


def listed(*arguments: str) -> list[str]:
    """Return the lines that ``ss`` prints; raise ``OSError`` for its errors."""
    command = ["ss", "-Htn", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if result.returncode or result.stderr:
        raise OSError(result.stderr.strip())
    return result.stdout.splitlines()


def served(server: int, ports: Sequence[int]) -> list[int]:
    """Return the ports on which the server, or a process that it started, listens."""
    return [
        port
        for port in ports
        for line in listed("-lp", f"sport = :{port}")
        for text in line.split("pid=")[1:]
        if server in ancestry(int(text.partition(",")[0]))
    ]


def ancestry(pid: int) -> Iterator[int]:
    """Yield a process id, its parent's, and so on."""
    while pid:
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def established(ports: Sequence[int]) -> list[Connection]:
    """Return the current connections to these ports."""
    lines = listed("state", "established", " or ".join(f"sport = :{port}" for port in ports))
    return [Connection(*line.split()[2:4]) for line in lines]


def cut(connections: Sequence[Connection]) -> None:
    """Cut connections; one that is closed already is no error."""
    for first in range(0, len(connections), AT_ONCE):
        batch = connections[first : first + AT_ONCE]
        listed("-K", " or ".join(f"( src {here} and dst {peer} )" for here, peer in batch))


def try_out() -> None:
    """Cut a connection of this process with itself; raise ``OSError`` if the kernel does not."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ports = [server.getsockname()[1]]
        with socket.create_connection(server.getsockname()), server.accept()[0]:
            cut(established(ports))
            if established(ports):
                raise OSError("its kernel cuts no connections: it needs CONFIG_INET_DIAG_DESTROY")


def some(
    connections: Sequence[Connection], share: float | None, count: int | None
) -> list[Connection]:
    """Return a random sample of connections, by number, or by share but at least one."""
    count = max(1, round((share or 0.0) * len(connections))) if count is None else count
    return random.sample(connections, min(count, len(connections)))


def main(order: dict[str, Any]) -> None:
    """Wait for the signal, cut connections, and print the result."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        try_out()
        ports = served(order["server"], order["ports"])
    except OSError as error:
        sys.exit(str(error))
    if not ports:
        sys.exit("no client of this run connects to it: name another node")
    print("ready", flush=True)
    signal.sigwait({signal.SIGUSR1})
    before = established(ports)
    chosen = some(before, order["share"], order["count"])
    cut(chosen)
    left = {*chosen} & {*established(ports)}
    print(json.dumps({"connections": len(before), "cut": len(chosen) - len(left)}), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
