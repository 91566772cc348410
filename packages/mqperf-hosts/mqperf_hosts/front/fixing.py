"""Installation, on this machine and by apt, of what plans with some systems need."""

import os
import shlex
import shutil
from collections.abc import Collection
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import HostError
from mqperf.hosts import HERE, HOSTS
from mqperf_hosts.front.host_check import needed

LIMIT_S = 3600
SYSTEMD = Path("/run/systemd/system")
"""Exists where systemd runs, which starts services of packages."""

QUIET = {"DEBIAN_FRONTEND": "noninteractive"}


def installation(systems: Collection[str]) -> str:
    """Return the command that installs what these systems, or the first of all, lack here.

    It is empty if nothing is missing.  It also ends services that start with a package, which would
    disturb a measurement.  Raise ``HostError`` where there is no apt.
    """
    with HOSTS[HERE].reached() as hosts:
        [host] = hosts.every
        tools = [tool for tool in needed(systems) if tool.packages and not tool.by_hand]
        found = host.which([program for tool in tools for program in tool.programs])
    missing = [tool for tool in tools if not any(found[program] for program in tool.programs)]
    if not missing:
        return ""
    packages = " ".join(dict.fromkeys(name for tool in missing for name in tool.packages))
    if shutil.which("apt-get") is None:
        raise HostError(f"this machine has no apt-get: install {packages} yourself")
    services = " ".join(dict.fromkeys(name for tool in missing for name in tool.services))
    command = f"apt-get update && apt-get install --yes --no-install-recommends {packages}"
    if services and SYSTEMD.is_dir():
        command += f" && systemctl disable --now {services}"
    return shlex.join(["sh", "-c", command] if os.geteuid() == 0 else ["sudo", "sh", "-c", command])


def install(command: str) -> None:
    """Run the command without prompts; raise ``HostError`` with its last line where it fails."""
    argv = shlex.split(command)
    if argv[0] == "sudo":
        argv[1:1] = ["-n"]  # never prompt for a password: it has no terminal
    result = processes.run(argv, timeout_s=LIMIT_S, env={**os.environ, **QUIET})
    if result.returncode:
        lines = (result.stderr or result.stdout).strip().splitlines() or ["no output"]
        raise HostError(f"not installed: {lines[-1]}; run it yourself: {command}")
