"""Network interfaces of this machine: what each is, who drives it, and how fast its link is.

With the standard library alone, as ``facts``.
"""

import array
import fcntl
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

INTERFACES = Path("/sys/class/net")
LOOPBACK = "lo"
PCI_NAMES = (Path("/usr/share/misc/pci.ids"), Path("/usr/share/hwdata/pci.ids"))

ETHTOOL = 0x8946
"""The ioctl by which drivers are asked (SIOCETHTOOL of linux/sockios.h)."""

GET_DRIVER = 3
"""ETHTOOL_GDRVINFO of linux/ethtool.h: 196 bytes, of which a command and the driver's name are
first."""

GET_SETTINGS = 1
"""ETHTOOL_GSET of linux/ethtool.h: 44 bytes, the speed in Mbit/s among them."""

UNKNOWN_SPEED = 0xFFFF_FFFF
"""What a driver says that does not know: -1."""

GET_FLAGS = 0x8913
"""The ioctl that tells an interface's state (SIOCGIFFLAGS of linux/sockios.h)."""

RUNNING = 0x40
"""IFF_RUNNING of linux/if.h: it is up, and so is its link."""

MEGABIT = 1_000_000


def cards() -> "list[JsonValue]":
    """Name, model, driver and speed of every interface that is up; None where nobody tells.

    Loopback is left out.  A virtual interface has no model.  One that does not know its speed says
    -1, 0, or nothing.
    """
    names = sorted(name for _, name in socket.if_nameindex() if name != LOOPBACK)
    return [
        {
            "name": name,
            "model": _model(INTERFACES / name / "device"),
            "driver": _driver(name),
            "speed_bits_per_s": _speed(name),
        }
        for name in names
        if _runs(name)
    ]


def _runs(name: str) -> bool:
    answer = _asked(GET_FLAGS, struct.pack("16sH", name.encode(), 0).ljust(40, b"\0"))
    return bool(answer and struct.unpack_from("H", answer, 16)[0] & RUNNING)


def _speed(name: str) -> int | None:
    """Bits per second as ethtool tells them, in two halves; None for one that does not know."""
    answer = _ethtool(name, GET_SETTINGS)
    if answer is None:
        return None
    megabits = struct.unpack_from("H", answer, 28)[0] << 16 | struct.unpack_from("H", answer, 12)[0]
    return megabits * MEGABIT if 0 < megabits < UNKNOWN_SPEED else None


def _driver(name: str) -> str | None:
    """The driver as sysfs has it, or as ethtool asks it of interfaces without a device."""
    link = INTERFACES / name / "device" / "driver"
    if link.exists():
        return link.resolve().name
    answer = _ethtool(name, GET_DRIVER) or bytes(36)
    return answer[4:36].split(b"\0")[0].decode(errors="replace") or None


def _ethtool(name: str, question: int) -> bytes | None:
    """What the driver of an interface answers; None when it refuses."""
    answer = array.array("B", struct.pack("I", question).ljust(196, b"\0"))
    request = struct.pack("16sP", name.encode(), answer.buffer_info()[0]).ljust(40, b"\0")
    return None if _asked(ETHTOOL, request) is None else answer.tobytes()


def _asked(question: int, request: bytes) -> bytes | None:
    """What the kernel answers about an interface; None when it refuses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            return fcntl.ioctl(asking.fileno(), question, request)
        except OSError:
            return None


def _model(device: Path) -> str | None:
    """Vendor and device of a card: their names where the machine has the list, else their ids."""
    try:
        vendor, card = (
            (device / part).read_text(encoding="ascii").strip().removeprefix("0x")
            for part in ("vendor", "device")
        )
    except OSError:
        return None
    return _pci_name(vendor, card) or f"{vendor}:{card}"


def _pci_name(vendor: str, card: str) -> str | None:
    listing = next((file for file in PCI_NAMES if file.exists()), None)
    if listing is None:
        return None
    maker = None
    for line in listing.read_text(encoding="utf-8", errors="replace").splitlines():
        if maker is None:
            maker = line[6:] if line.startswith(f"{vendor}  ") else None
        elif line.startswith(f"\t{card}  "):
            return f"{maker} {line[7:]}"
        elif not line.startswith(("\t", "#")):
            return None
    return None
