"""Install on this machine what plans with some systems need, as far as apt has it."""

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
"""It is there where systemd runs, which starts services of packages."""

QUIET = {"DEBIAN_FRONTEND": "noninteractive"}


def installation(systems: Collection[str]) -> str:
    """The command that installs what these systems lack, or the first of all; empty if nothing.

    Services that start with a package are ended: they would be in the way of a measurement.  Raises
    ``HostError`` where there is no apt.
    """
    with HOSTS[HERE].reached() as hosts:
        [host] = hosts.every
        tools = [tool for tool in needed(systems) if tool.packages and not tool.by_hand]
        there = host.which([program for tool in tools for program in tool.programs])
    lacking = [tool for tool in tools if not any(there[program] for program in tool.programs)]
    if not lacking:
        return ""
    packages = " ".join(dict.fromkeys(name for tool in lacking for name in tool.packages))
    if shutil.which("apt-get") is None:
        raise HostError(f"this machine has no apt-get: install {packages} yourself")
    services = " ".join(dict.fromkeys(name for tool in lacking for name in tool.services))
    command = f"apt-get update && apt-get install --yes --no-install-recommends {packages}"
    if services and SYSTEMD.is_dir():
        command += f" && systemctl disable --now {services}"
    return shlex.join(["sh", "-c", command] if os.geteuid() == 0 else ["sudo", "sh", "-c", command])


def install(command: str) -> None:
    """Run it, without a question; raises ``HostError`` with what it said last where it fails."""
    argv = shlex.split(command)
    if argv[0] == "sudo":
        argv[1:1] = ["-n"]  # no password is read: there is no terminal of its own
    done = processes.run(argv, timeout_s=LIMIT_S, env={**os.environ, **QUIET})
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        raise HostError(f"not installed: {said[-1]}; run it yourself: {command}")
