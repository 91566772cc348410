"""A socket to the other end, in the clear or by TLS, and the bytes on their way through it."""

import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Sequence

from mqperf_numbered.onhost.broker import Lost

WAITING = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""How a socket says that it takes, or has, nothing now."""

TIMEOUT_S = 10.0
"""Of everything that is waited for while a connection is set up."""

MOST_RECORDS = 32
"""Of TLS that are taken in at once: half a MiB."""


class Outbox:
    """The sending half of a connection; ``queued`` and ``sent`` count its bytes.

    ``last_out`` is when the socket took some, on the monotonic clock.
    """

    socket: socket.socket
    address: str

    def __init__(self) -> None:
        self.out: deque[memoryview] = deque()
        self.queued = self.sent = 0
        self.last_out = time.monotonic()

    @property
    def drained(self) -> bool:
        """Whether everything is handed over."""
        return self.sent == self.queued

    def fileno(self) -> int:
        """For selectors."""
        return self.socket.fileno()

    def flowing(self) -> None:
        """From now on nothing waits."""
        self.socket.settimeout(0)

    def send(self, content: bytes | memoryview) -> None:
        """Hand over what the socket takes now, and the rest as soon as it can."""
        view = memoryview(content)
        self.out.append(view)
        self.queued += len(view)
        self.flush()

    def flush(self) -> None:
        """Hand over what can be; raises ``Lost``."""
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
        """The error that says so of the other end's address."""
        return Lost(f"{self.address}: {why}")


def connected(addresses: Sequence[str], authority: str = "") -> tuple[socket.socket, str]:
    """A socket to the first that answers, and its address; raises ``Lost`` when none does.

    With an authority it speaks TLS, and who has no certificate of it has not answered.
    """
    problems = []
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            connection = _to(host.strip("[]"), int(port), authority)
        except OSError as error:
            problems.append(f"{address}: {error.strerror or error}")
            continue
        return connection, address
    raise Lost("; ".join(problems))


def taken(from_socket: socket.socket, take: Callable[[], bool]) -> bool:
    """Take in what a socket has by ``take``, once, or as often as TLS asks for; if there was any.

    Of TLS a read gives a record of 16 KiB at most.  No selector knows of what is decrypted already,
    so none of that is left.
    """
    if not take():
        return False
    if isinstance(from_socket, ssl.SSLSocket):
        waits = from_socket.gettimeout() != 0
        for _ in range(MOST_RECORDS):
            if waits or not take():
                break
        while from_socket.pending():
            take()
    return True


def _to(host: str, port: int, authority: str) -> socket.socket:
    connection = socket.create_connection((host, port), TIMEOUT_S)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if authority:
            # it trusts nobody else, and wants the address to be in the certificate
            context = ssl.create_default_context(cadata=authority)
            context.verify_flags |= ssl.VERIFY_X509_STRICT  # as of every Python since 3.13
            return context.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise
    return connection
