"""Facts about a machine that matter for measurements on it, without its name.

With the standard library alone, as it also runs on hosts where nothing else is installed.
"""

import hashlib
import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mqperf.onhost.machine import network

if TYPE_CHECKING:
    from pydantic import JsonValue

SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"
"""Folders with programs for administrators, which a user's PATH often lacks."""

CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
BOOT = Path("/proc/sys/kernel/random/boot_id")
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def host_facts() -> "dict[str, JsonValue]":
    """Return processor, memory, kernel, clock and network of this machine; None where unknown."""
    return {
        "cpu_model": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory_bytes(),
        "kernel": f"{platform.system()} {platform.release()}",
        "os": _os(),
        "clock_source": _first_line(CLOCK),
        "cpu_governor": _first_line(GOVERNOR),
        "tcp_congestion_control": _first_line("/proc/sys/net/ipv4/tcp_congestion_control"),
        "somaxconn": _number("/proc/sys/net/core/somaxconn"),
        "python": platform.python_version(),
        "network": "loopback",
        "network_cards": network.cards(),
        "machine": _machine(),
    }


def _cpu_model() -> str:
    for line in _text("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()


def _machine() -> str | None:
    """Return an id that all hosts of one kernel share, and no others: new with every boot."""
    boot = _first_line(BOOT)
    return hashlib.sha256(boot.encode()).hexdigest()[:16] if boot else None


def _memory_bytes() -> int | None:
    match = re.search(r"^MemTotal: *(\d+) kB$", _text("/proc/meminfo"), re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _os() -> str | None:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return None


def _number(path: str) -> int | None:
    line = _first_line(path)
    return int(line) if line and line.isdigit() else None


def _first_line(path: str | Path) -> str | None:
    return next(iter(_text(path).splitlines()), None)


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
