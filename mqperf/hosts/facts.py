"""What must be known of a machine to judge what was measured on it; nothing that names it."""

import platform
from pathlib import Path

import psutil
from pydantic import JsonValue

from mqperf.hosts import network

CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def host_facts() -> dict[str, JsonValue]:
    """Processor, memory, kernel, clock and network of this machine; None where it does not tell."""
    return {
        "cpu_model": _cpu_model(),
        "cores": psutil.cpu_count(),
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
    }


def _cpu_model() -> str:
    for line in _text("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()


def _memory_bytes() -> int | None:
    try:
        return psutil.virtual_memory().total
    except (OSError, psutil.Error):
        return None


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
