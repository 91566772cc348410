"""Ansible, in a pinned environment of its own."""

import hashlib
import shutil
import sys
from pathlib import Path

from mqperf import cache
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
    cache.make(home, lambda: _build(host, home))
    return home / "bin" / "ansible-playbook"


def _build(host: Host, home: Path) -> None:
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    tool = [uv] if uv else [sys.executable, "-P", "-m", "uv"]
    _run(host, [*tool, "venv", "--quiet", "--python", sys.executable, str(home)])
    pinned = ["--require-hashes", "-r", str(LOCK)]
    _run(host, [*tool, "pip", "install", "--quiet", "--python", str(home / "bin/python"), *pinned])


def _run(host: Host, argv: list[str]) -> None:
    done = host.run(argv, timeout_s=LIMIT_S)
    if done.returncode != 0:
        last = without_passwords((done.stdout + done.stderr).strip().splitlines()[-1:][0])
        raise HostError(
            f"Ansible could not be installed: {' '.join(argv[:3])} ended with code"
            f" {done.returncode}: {last}; see that the package index can be reached, and repeat the"
            " command"
        )
