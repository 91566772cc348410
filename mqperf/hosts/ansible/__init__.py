"""Ansible, in a pinned environment of its own: it does not install beside mqperf's requirements."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from types import MappingProxyType

from mqperf.base import cache, processes
from mqperf.hosts.software import virtual_environment
from mqperf.hosts.software.packages import digest

LOCK = Path(__file__).parent / "locks" / "ansible.txt"
CONFIGURATION = "ansible.cfg"
"""An empty file of this name keeps Ansible from reading any other configuration."""

INHERITED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "SSH_AUTH_SOCK")
"""Environment variables passed on to Ansible: they locate keys and the ssh configuration."""


def run(
    command: str,
    arguments: Sequence[str],
    timeout_s: float,
    *,
    installed: str | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> CompletedProcess[str]:
    """Run an Ansible command to completion: the ``installed`` program, or that of mqperf's Ansible.

    mqperf's own Ansible is installed on first use.  The user's Ansible configuration is not read,
    and only that Ansible's environment in the cache remains afterwards.  Raises ``InstallError``
    when Ansible cannot be installed, which needs the network, and ``HostError`` when the command
    does not finish in time.
    """
    program = installed or str(ensure() / command)
    with processes.scratch("ansible") as folder:
        (folder / CONFIGURATION).touch()
        return processes.run(
            [program, *arguments], env={**_environment(folder), **variables}, timeout_s=timeout_s
        )


def ensure() -> Path:
    """Return the folder of Ansible's commands, created if the cache has no intact one.

    Raises ``InstallError`` with the last lines of output of the step that failed.
    """
    home = cache.place() / "ansible" / digest(LOCK)
    cache.make(home, lambda: virtual_environment.make("Ansible", home, LOCK))
    return home / "bin"


def _environment(folder: Path) -> dict[str, str]:
    """Return variables by which Ansible checks host keys and ends connections with the command."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | {
        "ANSIBLE_HOME": str(folder),
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
        "ANSIBLE_CONFIG": str(folder / CONFIGURATION),
        "ANSIBLE_HOST_KEY_CHECKING": "True",
        "ANSIBLE_PIPELINING": "True",
        "ANSIBLE_SSH_ARGS": "-o BatchMode=yes -o ControlMaster=no -o ForwardAgent=no",
        "ANSIBLE_FORKS": "20",
        "ANSIBLE_NOCOLOR": "True",
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "True",
        "ANSIBLE_INTERPRETER_PYTHON": "auto_silent",
        "ANSIBLE_STDOUT_CALLBACK": "default",
    }
