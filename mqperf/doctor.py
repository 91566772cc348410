"""What is installed here, in which versions, and how to get what is missing."""

import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from mqperf import __version__
from mqperf.errors import MqperfError
from mqperf.hosts import LocalHost
from mqperf.load import environments
from mqperf.systems import SYSTEMS


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that mqperf needs: whether it is there, and a sentence about it."""

    sound: bool
    text: str


def examine(*, simulators: bool) -> Iterator[Finding]:
    """Look at everything that a run needs; with ``simulators`` also build and try each of them."""
    yield Finding(True, f"mqperf {__version__}, Python {platform.python_version()}")
    facts = LocalHost().facts()
    yield Finding(True, f"host: {facts['os']}, {facts['cores']} cores, {facts['cpu_model']}")
    yield _program("setpriv", "sudo apt-get install util-linux")
    for system in SYSTEMS.values():
        yield _system(system.title, system.version)
    for name in environments.RELEASES:
        yield _simulator(name, build=simulators)


def _program(name: str, remedy: str) -> Finding:
    path = shutil.which(name)
    return Finding(path is not None, f"{name}: {path or f'not found; install it with: {remedy}'}")
