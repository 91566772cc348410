"""Relay packets between two sets of hosts until the input ends.

Its argument is JSON: ``ends``, the hosts of both ends, each with its address and the path of its
network namespace, the quantities of the ``link``, and a ``seed``.  It answers each input line by a
line of JSON; commands are ``count``, ``cut`` (remove the carrier), ``swallow`` (drop all packets),
``impair`` (with the link's new quantities as JSON) and ``restore``.
"""

import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any

from .devices import Device
from .shaping import Direction

PR_SET_PDEATHSIG, PR_SET_TIMERSLACK = 1, 29
DEVICE = "mqlink"
LONGEST = 1 << 16
AT_ONCE = 64
"""Most packets that are read from a device before others get their turn."""

PRIORITY = 1
"""Real-time priority: a cable does not wait for a processor."""


class Relay:
    """The devices at both ends, and the two directions between them."""

    def __init__(self, order: dict[str, Any]) -> None:
        """Create the devices; raise ``OSError`` if one cannot be created."""
        self._directions = [
            Direction(**order["link"], seed=f"{order['seed']} {number}") for number in range(2)
        ]
        self._devices: list[Device] = []
        self._direction_of: dict[int, Direction] = {}
        self._outs: dict[int, dict[bytes, int]] = {}
        ends: list[dict[bytes, int]] = []
        for direction, hosts in zip(self._directions, order["ends"], strict=True):
            end = {}
            for host in hosts:
                device = Device(host["namespace"], DEVICE)
                self._devices.append(device)
                end[socket.inet_aton(host["address"])] = device.number
                self._direction_of[device.number] = direction
            ends.append(end)
        for end, other in (ends, reversed(ends)):
            self._outs.update(dict.fromkeys(end.values(), other))

    def serve(self) -> None:
        """Forward packets until the input ends."""
        watched = [0, *self._direction_of]
        while True:
            due = min(direction.due for direction in self._directions)
            timeout = None if due == float("inf") else max(0.0, due - time.monotonic())
            ready, _, _ = select.select(watched, [], [], timeout)
            for device in ready:
                if device:
                    self._read(device)
                elif not self._obey():
                    return
            for direction in self._directions:
                for out, packet in direction.take(time.monotonic()):
                    with suppress(OSError):  # a host that is gone, or its device
                        os.write(out, packet)

    def _read(self, device: int) -> None:
        """Read a device's packets into its direction; drop those for unknown addresses."""
        offer, outs, now = self._direction_of[device].offer, self._outs[device], time.monotonic()
        with suppress(BlockingIOError):
            for _ in range(AT_ONCE):
                packet = os.read(device, LONGEST)
                if (out := outs.get(packet[16:20])) is not None:
                    offer(now, out, packet)

    def _obey(self) -> bool:
        """Execute a command of the input, and answer it; return False at the input's end."""
        line = sys.stdin.readline()
        command, _, quantities = line.strip().partition(" ")
        match command:
            case "cut":
                self._close(carrier=False)
            case "swallow":
                self._close(carrier=True)
            case "impair":
                for direction in self._directions:
                    direction.impair(**json.loads(quantities))
            case "restore":
                now = time.monotonic()
                for direction in self._directions:
                    direction.repair(now)
                    direction.open()
                self._set_carrier(on=True)
        if line:
            say(self._counts())
        return bool(line)

    def _close(self, *, carrier: bool) -> None:
        self._set_carrier(on=carrier)
        for direction in self._directions:
            direction.close()

    def _set_carrier(self, *, on: bool) -> None:
        for device in self._devices:
            device.carry(on)

    def _counts(self) -> dict[str, float]:
        """Return the packets of both directions so far, and the CPU time used."""
        names = ("came", "lost", "full", "swallowed", "impaired", "left", "late_s")
        counts = {
            name: sum(getattr(direction, name) for direction in self._directions) for name in names
        }
        counts["unread"] = sum(device.unread() for device in self._devices)
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {**counts, "cpu_s": used.ru_utime + used.ru_stime}


def say(answer: dict[str, Any]) -> None:
    """Print an answer as JSON."""
    print(json.dumps(answer), flush=True)


def main() -> None:
    """Create the link, and run it until the input ends."""
    control = ctypes.CDLL(None).prctl
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    control(PR_SET_TIMERSLACK, 1)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    try:
        relay = Relay(json.loads(sys.argv[1]))
    except OSError as error:
        say({"error": f"{error.filename or '/dev/net/tun'}: {error.strerror}"})
        sys.exit(1)
    say({"pid": os.getpid(), "device": DEVICE})
    relay.serve()


main()
