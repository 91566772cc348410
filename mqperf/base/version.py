"""The version of mqperf, with the commit when it runs from a checkout."""

import subprocess
from pathlib import Path

from mqperf import __version__
from mqperf.base import processes
from mqperf.base.errors import HostError

CHECKOUT = Path(__file__).parents[2]
GIT_LIMIT_S = 60
DESCRIBE = ("describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=.modified")


def version(checkout: Path = CHECKOUT) -> str:
    """Return ``1.0.0+g1a2b3c4d5e6f``, and ``.modified`` for changed tracked files, or ``1.0.0``."""
    if not (checkout / ".git").exists():
        return __version__
    try:
        argv = ["git", "--no-optional-locks", "-C", str(checkout), *DESCRIBE]
        done = processes.run(argv, env=processes.usual_variables(), timeout_s=GIT_LIMIT_S)
        done.check_returncode()
    except (HostError, subprocess.CalledProcessError):
        return __version__
    return f"{__version__}+g{done.stdout.strip()}"
