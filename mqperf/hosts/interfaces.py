"""The network interface of this machine that has a given address."""

import ipaddress
import socket

import psutil

from mqperf.onhost.machine.network import LOOPBACK


def interface_of(address: str) -> str | None:
    """Return the name of the interface that has this address; None when none has."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip.is_loopback:
        return LOOPBACK
    for name, entries in psutil.net_if_addrs().items():
        for entry in entries:
            internet = entry.family in (socket.AF_INET, socket.AF_INET6)
            if internet and ipaddress.ip_address(entry.address.partition("%")[0]) == ip:
                return name
    return None
