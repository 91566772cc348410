"""Network devices of a program, which reads the packets that the kernel sends to them."""

import ctypes
import fcntl
import os
import struct
from pathlib import Path

CLONE_NEWNET = 0x40000000
TUNSETIFF, TUNSETCARRIER = 0x400454CA, 0x400454E2
KIND = 0x1001
"""IP packets (IFF_TUN) without a header before them (IFF_NO_PI)."""

DROPPED = 11
"""Index, among a device's statistics, of packets dropped instead of sent."""

TUN = "/dev/net/tun"
STATISTICS = Path("/proc/thread-self/net/dev")


class Device:
    """A device in the network namespace of this path; it vanishes with this program.

    ``number`` is the file by which packets are read and written.  Raises ``OSError``.
    """

    def __init__(self, namespace: str, name: str) -> None:
        """Enter the namespace, and create the device there."""
        self._name = name
        library = ctypes.CDLL(None, use_errno=True)
        with Path(namespace).open("rb") as file:
            if library.setns(file.fileno(), CLONE_NEWNET):
                errno = ctypes.get_errno()
                raise OSError(errno, os.strerror(errno), namespace)
        self.number = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.number, TUNSETIFF, struct.pack("16sH22x", name.encode(), KIND))
        self._statistics = STATISTICS.open("rb")  # of this namespace, even after we leave it
        self._carrier = True
        self._without_carrier, self._dropped = 0, 0

    def carry(self, on: bool) -> None:  # noqa: FBT001 (as the kernel has it)
        """Switch the carrier on or off, as by plugging or pulling the cable."""
        if on != self._carrier:
            dropped = self._drops()
            self._without_carrier += 0 if self._carrier else dropped - self._dropped
            self._dropped, self._carrier = dropped, on
            fcntl.ioctl(self.number, TUNSETCARRIER, struct.pack("i", on))

    def unread(self) -> int:
        """Return how many packets were dropped for lack of room, while there was a carrier."""
        dropped = self._drops() if self._carrier else self._dropped
        return dropped - self._without_carrier

    def _drops(self) -> int:
        self._statistics.seek(0)
        for line in self._statistics:
            name, _, figures = line.partition(b":")
            if name.strip() == self._name.encode():
                return int(figures.split()[DROPPED])
        return 0
