"""A controller that holds hosts until it is killed; run as a script, with an inventory."""

import os
import sys
import time
from pathlib import Path

from mqperf.hosts import inventory
from mqperf.hosts.remote import RemoteHost, connected

DETACHED = "(setsid sleep 4321 &) ; trap '' TERM HUP INT ; sleep 4321 & wait"
"""A daemon that nobody is the parent of, and a process that ends by force only."""

LEASE_S = 2


def begun(hosts: list[RemoteHost]) -> None:
    """On every host a plain process, grandchildren, and one that ignores signals."""
    for host in hosts:
        host.start("plain", ["sleep", "4321"], log=Path(os.devnull))
        host.start("stubborn", ["sh", "-c", DETACHED], log=Path(os.devnull))


if __name__ == "__main__":
    with connected(inventory.read(Path(sys.argv[1])).places, lease_s=LEASE_S) as held:
        begun(held)
        print("up", flush=True)
        time.sleep(600)
