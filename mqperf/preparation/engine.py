"""Ansible, in a pinned environment of its own."""

import hashlib
import sys
from pathlib import Path
from subprocess import CompletedProcess

from mqperf import cache
from mqperf.redaction import without_passwords
from mqperf.software import virtual_environment

LOCK = Path(__file__).parent / "locks" / "ansible.txt"


def ensure() -> Path:
    """The command ``ansible-playbook``; made first if this machine has no sound one.

    Making it needs the network.  Raises ``InstallError`` with the last words of what failed.
    """
    digest = hashlib.sha256((LOCK.read_text() + sys.version).encode()).hexdigest()[:12]
    home = cache.place() / "ansible" / digest
    cache.make(home, lambda: virtual_environment.make("Ansible's environment", home, LOCK))
    return home / "bin" / "ansible-playbook"


def last_line(done: CompletedProcess[str]) -> str:
    """The last that a command said, without passwords."""
    lines = (done.stdout + done.stderr).strip().splitlines()
    return without_passwords(lines[-1]) if lines else "it said nothing"
