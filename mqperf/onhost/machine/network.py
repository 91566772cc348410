"""Network interfaces of this machine, with model, driver and link speed.

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
"""The ioctl for requests to drivers (SIOCETHTOOL of linux/sockios.h)."""

GET_DRIVER = 3
"""ETHTOOL_GDRVINFO of linux/ethtool.h: 196 bytes, which begin with the command and the driver's
name."""

GET_SETTINGS = 1
"""ETHTOOL_GSET of linux/ethtool.h: 44 bytes, the speed in Mbit/s among them."""

UNKNOWN_SPEED = 0xFFFF_FFFF
"""The answer of a driver that does not know the speed: -1."""

GET_FLAGS = 0x8913
"""The ioctl for an interface's state (SIOCGIFFLAGS of linux/sockios.h)."""

RUNNING = 0x40
"""IFF_RUNNING of linux/if.h: the interface is up, and so is its link."""

MEGABIT = 1_000_000


def cards() -> "list[JsonValue]":
    """Return name, model, driver and speed of every interface that is up; None where unknown.

    Loopback is left out.  A virtual interface has no model.  One without a known speed reports -1,
    0, or nothing.
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
        if _is_up(name)
    ]


def _is_up(name: str) -> bool:
    answer = _ioctl(GET_FLAGS, struct.pack("16sH", name.encode(), 0).ljust(40, b"\0"))
    return bool(answer and struct.unpack_from("H", answer, 16)[0] & RUNNING)


def _speed(name: str) -> int | None:
    """Speed in bits per second, which ethtool returns in two halves; None if unknown."""
    answer = _ethtool(name, GET_SETTINGS)
    if answer is None:
        return None
    megabits = struct.unpack_from("H", answer, 28)[0] << 16 | struct.unpack_from("H", answer, 12)[0]
    return megabits * MEGABIT if 0 < megabits < UNKNOWN_SPEED else None


def _driver(name: str) -> str | None:
    """The driver by sysfs, or by ethtool for interfaces without a device."""
    link = INTERFACES / name / "device" / "driver"
    if link.exists():
        return link.resolve().name
    answer = _ethtool(name, GET_DRIVER) or bytes(36)
    return answer[4:36].split(b"\0")[0].decode(errors="replace") or None


def _ethtool(name: str, command: int) -> bytes | None:
    """Return the answer of an interface's driver; None when it refuses."""
    answer = array.array("B", struct.pack("I", command).ljust(196, b"\0"))
    request = struct.pack("16sP", name.encode(), answer.buffer_info()[0]).ljust(40, b"\0")
    return None if _ioctl(ETHTOOL, request) is None else answer.tobytes()


def _ioctl(number: int, request: bytes) -> bytes | None:
    """Return the kernel's answer about an interface; None when it refuses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            return fcntl.ioctl(any_socket.fileno(), number, request)
        except OSError:
            return None


def _model(device: Path) -> str | None:
    """Vendor and device of a card, by name if the machine has the list of names, else by id."""
    try:
        vendor, card = (
            (device / file).read_text(encoding="ascii").strip().removeprefix("0x")
            for file in ("vendor", "device")
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
