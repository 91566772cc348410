"""Network interfaces of this machine: what each is, who drives it, and how fast its link is."""

import array
import fcntl
import ipaddress
import socket
import struct
from pathlib import Path

import psutil
from pydantic import JsonValue

INTERFACES = Path("/sys/class/net")
LOOPBACK = "lo"
PCI_NAMES = (Path("/usr/share/misc/pci.ids"), Path("/usr/share/hwdata/pci.ids"))

ETHTOOL = 0x8946
"""The ioctl by which drivers are asked (SIOCETHTOOL of linux/sockios.h)."""

GET_DRIVER = 3
"""ETHTOOL_GDRVINFO of linux/ethtool.h: 196 bytes, of which a command and the driver's name are
first."""

MEGABIT = 1_000_000


def cards() -> list[JsonValue]:
    """Name, model, driver and speed of every interface that is up; None where nobody tells.

    Loopback is left out.  A virtual interface has no model.  One that does not know its speed says
    -1, 0, or nothing.
    """
    known = {name: stats for name, stats in psutil.net_if_stats().items() if name != LOOPBACK}
    return [
        {
            "name": name,
            "model": _model(INTERFACES / name / "device"),
            "driver": _driver(name),
            "speed_bits_per_s": stats.speed * MEGABIT if stats.speed > 0 else None,
        }
        for name, stats in sorted(known.items())
        if stats.isup
    ]


def interface_of(address: str) -> str | None:
    """The interface that has this address of ours; None when none has."""
    wanted = ipaddress.ip_address(address.partition("%")[0])
    if wanted.is_loopback:
        return LOOPBACK
    for name, entries in psutil.net_if_addrs().items():
        for entry in entries:
            own = entry.family in (socket.AF_INET, socket.AF_INET6)
            if own and ipaddress.ip_address(entry.address.partition("%")[0]) == wanted:
                return name
    return None


def _driver(name: str) -> str | None:
    """The driver as sysfs has it, or as ethtool asks it of interfaces without a device."""
    link = INTERFACES / name / "device" / "driver"
    if link.exists():
        return link.resolve().name
    answer = array.array("B", struct.pack("I", GET_DRIVER).ljust(196, b"\0"))
    request = struct.pack("16sP", name.encode(), answer.buffer_info()[0]).ljust(40, b"\0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            fcntl.ioctl(asking.fileno(), ETHTOOL, request)
        except OSError:
            return None
    return answer.tobytes()[4:36].split(b"\0")[0].decode(errors="replace") or None


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
