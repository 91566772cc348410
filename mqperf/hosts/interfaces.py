"""Which network interface of this machine an address belongs to."""

import ipaddress
import socket

import psutil

from mqperf.onhost.machine.network import LOOPBACK


def interface_of(address: str) -> str | None:
    """The interface that has this address of ours; None when none has."""
    wanted = ipaddress.ip_address(address.partition("%")[0])
    if wanted.is_loopback:
        return LOOPBACK
    for name, entries in psutil.net_if_addrs().items():
        for entry in entries:
            internet = entry.family in (socket.AF_INET, socket.AF_INET6)
            if internet and ipaddress.ip_address(entry.address.partition("%")[0]) == wanted:
                return name
    return None
