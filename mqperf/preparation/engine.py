"""Ansible, in a pinned environment of its own."""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

from mqperf import cache, virtual_environment
from mqperf.errors import HostError
from mqperf.hosts import Host
from mqperf.redaction import without_passwords

LOCK = Path(__file__).parent / "locks" / "ansible.txt"
LIMIT_S = 1800


def ensure(host: Host) -> Path:
    """The command ``ansible-playbook``; made first if this machine has no sound one.

    Making it needs the network.  Raises ``HostError`` with the last words of what failed.
    """
    digest = hashlib.sha256((LOCK.read_text() + sys.version).encode()).hexdigest()[:12]
    home = cache.place() / "ansible" / digest
    cache.make(home, lambda: virtual_environment.make(home, LOCK, lambda argv: _run(host, argv)))
    return home / "bin" / "ansible-playbook"


def _run(host: Host, argv: Sequence[str]) -> None:
    done = host.run(argv, timeout_s=LIMIT_S)
    if done.returncode != 0:
        raise HostError(
            f"Ansible could not be installed: {' '.join(argv[:3])} ended with code"
            f" {done.returncode}: {last_line(done)}; see that the package index can be reached, and"
            " repeat the command"
        )


def last_line(done: CompletedProcess[str]) -> str:
    """The last that a command said, without passwords."""
    lines = (done.stdout + done.stderr).strip().splitlines()
    return without_passwords(lines[-1]) if lines else "it said nothing"
