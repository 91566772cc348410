"""The sending half of a connection: a socket, plain or with TLS, and its queue of bytes."""

import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Sequence

from mqperf_numbered.onhost.broker import Lost

WAITING = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""Errors of a socket that can neither send nor receive now."""

TIMEOUT_S = 10.0
"""Timeout of each operation while a connection is set up."""

MOST_RECORDS = 32
"""TLS records that are received at once: half a MiB."""


class Outbox:
    """The sending half of a connection; ``queued`` and ``sent`` count its bytes.

    ``last_out`` is when the socket last took bytes, on the monotonic clock.
    """

    socket: socket.socket
    address: str

    def __init__(self) -> None:
        self.out: deque[memoryview] = deque()
        self.queued = self.sent = 0
        self.last_out = time.monotonic()

    @property
    def drained(self) -> bool:
        """Whether the socket has taken everything."""
        return self.sent == self.queued

    def fileno(self) -> int:
        """Return the file descriptor, for selectors."""
        return self.socket.fileno()

    def flowing(self) -> None:
        """Make the socket non-blocking."""
        self.socket.settimeout(0)

    def send(self, content: bytes | memoryview) -> None:
        """Send what the socket takes now, and queue the rest."""
        view = memoryview(content)
        self.out.append(view)
        self.queued += len(view)
        self.flush()

    def flush(self) -> None:
        """Send as many queued bytes as the socket takes; raises ``Lost``."""
        try:
            while self.out:
                written = self.socket.send(self.out[0])
                self.sent += written
                if written < len(self.out[0]):
                    self.out[0] = self.out[0][written:]
                else:
                    self.out.popleft()
                self.last_out = time.monotonic()
        except WAITING:
            return
        except OSError as error:
            raise self.lost(error.strerror or str(error)) from None

    def lost(self, why: str) -> Lost:
        """Return the error for a lost connection, with the other end's address."""
        return Lost(f"{self.address}: {why}")


def connected(addresses: Sequence[str], authority: str = "") -> tuple[socket.socket, str]:
    """Return a socket to the first address that answers, and the address; raises ``Lost``.

    With an authority it uses TLS; an address without a certificate signed by it does not count.
    """
    problems = []
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            connection = _connect(host.strip("[]"), int(port), authority)
        except OSError as error:
            problems.append(f"{address}: {error.strerror or error}")
            continue
        return connection, address
    raise Lost("; ".join(problems))


def taken(from_socket: socket.socket, take: Callable[[], bool]) -> bool:
    """Receive by ``take``, once, or repeatedly with TLS; return whether there was anything.

    With TLS a read returns one record of 16 KiB at most.  Selectors do not notice bytes that are
    already decrypted, so all of these are received.
    """
    if not take():
        return False
    if isinstance(from_socket, ssl.SSLSocket):
        blocking = from_socket.gettimeout() != 0
        for _ in range(MOST_RECORDS):
            if blocking or not take():
                break
        while from_socket.pending():
            take()
    return True


def _connect(host: str, port: int, authority: str) -> socket.socket:
    connection = socket.create_connection((host, port), TIMEOUT_S)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if authority:
            # trusts no other authority, and requires the address in the certificate
            context = ssl.create_default_context(cadata=authority)
            context.verify_flags |= ssl.VERIFY_X509_STRICT  # as of every Python since 3.13
            return context.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise
    return connection
