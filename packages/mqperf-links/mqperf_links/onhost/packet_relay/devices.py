"""Network devices of a program: what the kernel sends to them, the program reads as packets."""

import ctypes
import fcntl
import os
import struct
from pathlib import Path

CLONE_NEWNET = 0x40000000
TUNSETIFF, TUNSETCARRIER = 0x400454CA, 0x400454E2
KIND = 0x1001
"""Packets of IP (IFF_TUN), and nothing before them (IFF_NO_PI)."""

DROPPED = 11
"""Which of a device's statistics counts what it dropped instead of sending."""

TUN = "/dev/net/tun"
STATISTICS = Path("/proc/thread-self/net/dev")


class Device:
    """A device in the network namespace of this path; it vanishes with this program.

    ``number`` is the file by which packets are read and written.  Raises ``OSError``.
    """

    def __init__(self, namespace: str, name: str) -> None:
        """Go into the namespace, and make it there."""
        self._name = name
        library = ctypes.CDLL(None, use_errno=True)
        with Path(namespace).open("rb") as place:
            if library.setns(place.fileno(), CLONE_NEWNET):
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), namespace)
        self.number = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.number, TUNSETIFF, struct.pack("16sH22x", name.encode(), KIND))
        self._statistics = STATISTICS.open("rb")  # of this namespace, wherever we go
        self._carrier = True
        self._without, self._dropped = 0, 0

    def carry(self, there: bool) -> None:  # noqa: FBT001 (as the kernel has it)
        """Plug its cable, or pull it."""
        if there != self._carrier:
            dropped = self._drops()
            self._without += 0 if self._carrier else dropped - self._dropped
            self._dropped, self._carrier = dropped, there
            fcntl.ioctl(self.number, TUNSETCARRIER, struct.pack("i", there))

    def unread(self) -> int:
        """Packets that it had no room for; those without a cable do not count."""
        dropped = self._drops() if self._carrier else self._dropped
        return dropped - self._without

    def _drops(self) -> int:
        self._statistics.seek(0)
        for line in self._statistics:
            name, _, figures = line.partition(b":")
            if name.strip() == self._name.encode():
                return int(figures.split()[DROPPED])
        return 0
