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
"""Ours is empty, and keeps others from being read."""

OURS = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "SSH_AUTH_SOCK")
"""What Ansible gets of our environment: where keys and the configuration of ssh are."""


def run(
    command: str,
    arguments: Sequence[str],
    timeout_s: float,
    *,
    installed: str | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> CompletedProcess[str]:
    """Run one of Ansible's commands to its end: an ``installed`` one, or that of our own Ansible.

    The latter is installed first where it is not.  No configuration of the user's is read, and
    nothing stays behind but our Ansible's environment in the cache.  Raises ``InstallError``
    when Ansible cannot be had, which needs the network, and ``HostError`` when the command has not
    ended in time.
    """
    program = installed or str(ensure() / command)
    with processes.scratch("ansible") as folder:
        (folder / CONFIGURATION).touch()
        return processes.run(
            [program, *arguments], env={**_environment(folder), **variables}, timeout_s=timeout_s
        )


def ensure() -> Path:
    """The folder of Ansible's commands; made first if this machine has no sound one.

    Raises ``InstallError`` with the last words of what failed.
    """
    home = cache.place() / "ansible" / digest(LOCK)
    cache.make(home, lambda: virtual_environment.make("Ansible", home, LOCK))
    return home / "bin"


def _environment(folder: Path) -> dict[str, str]:
    """Host keys are checked, and connections end with the command."""
    inherited = {name: os.environ[name] for name in OURS if name in os.environ}
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
