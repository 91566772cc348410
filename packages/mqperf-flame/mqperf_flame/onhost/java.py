"""Asks a Java process to write the symbol map of its compiled code for perf.

The request is ``jcmd``'s command ``Compiler.perfmap`` (Java 17 and later) over HotSpot's attach
protocol: a file and SIGQUIT make the process open a Unix socket, which accepts the command.
"""

import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

TEMPORARY = Path("/tmp")  # noqa: S108 (where HotSpot has its sockets)
COMMAND = b"1\0jcmd\0Compiler.perfmap\0\0\0"
LIMIT_S, POLL_S = 10.0, 0.05


def name_code(pid: int) -> None:
    """Have it write ``/tmp/perf-PID.map``; ignore processes that are no Java or do not answer."""
    with suppress(OSError):
        if Path(f"/proc/{pid}/exe").readlink().name != "java":
            return
        socket_path = TEMPORARY / f".java_pid{pid}"
        if not socket_path.exists():
            _open_socket(pid, socket_path)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(LIMIT_S)
            connection.connect(str(socket_path))
            connection.sendall(COMMAND)
            while connection.recv(4096):
                pass


def _open_socket(pid: int, socket_path: Path) -> None:
    attach_file = TEMPORARY / f".attach_pid{pid}"
    attach_file.touch()
    try:
        os.kill(pid, signal.SIGQUIT)
        deadline = time.monotonic() + LIMIT_S
        while not socket_path.exists() and time.monotonic() < deadline:
            time.sleep(POLL_S)
    finally:
        attach_file.unlink(missing_ok=True)
