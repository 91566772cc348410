"""A controller that stays connected to hosts until it is killed; a script with an inventory."""

import os
import sys
import time
from pathlib import Path

from mqperf.hosts import inventory
from mqperf.hosts.remote import RemoteHost, connected

DETACHED = "(setsid sleep 4321 &) ; trap '' TERM HUP INT ; sleep 4321 & wait"
"""A daemon without a parent, and a process that only SIGKILL ends."""

LEASE_S = 2


def start_processes(hosts: list[RemoteHost]) -> None:
    """Start on every host a plain process, grandchildren, and a process that ignores signals."""
    for host in hosts:
        host.start("plain", ["sleep", "4321"], log=Path(os.devnull))
        host.start("stubborn", ["sh", "-c", DETACHED], log=Path(os.devnull))


if __name__ == "__main__":
    with connected(inventory.read(Path(sys.argv[1])).places, lease_s=LEASE_S) as hosts:
        start_processes(hosts)
        print("up", flush=True)
        time.sleep(600)
