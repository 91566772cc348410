"""Asks a Java to write the names of its machine code where perf looks for them.

That is the command ``Compiler.perfmap`` of ``jcmd`` (Java 17 and later), by the protocol of
HotSpot's attach API: a file and SIGQUIT have it open a socket, which takes the command.
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
    """Have it write ``/tmp/perf-PID.map``; who is no Java, or hangs, is left in peace."""
    with suppress(OSError):
        if Path(f"/proc/{pid}/exe").readlink().name != "java":
            return
        place = TEMPORARY / f".java_pid{pid}"
        if not place.exists():
            _open_socket(pid, place)
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(LIMIT_S)
            line.connect(str(place))
            line.sendall(COMMAND)
            while line.recv(4096):
                pass


def _open_socket(pid: int, place: Path) -> None:
    ask = TEMPORARY / f".attach_pid{pid}"
    ask.touch()
    try:
        os.kill(pid, signal.SIGQUIT)
        limit = time.monotonic() + LIMIT_S
        while not place.exists() and time.monotonic() < limit:
            time.sleep(POLL_S)
    finally:
        ask.unlink(missing_ok=True)
