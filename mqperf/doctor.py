"""What is installed here, in which versions, and how to get what is missing."""

import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from mqperf import __version__
from mqperf.errors import MqperfError
from mqperf.hosts import LocalHost
from mqperf.load import environments
from mqperf.systems import SYSTEMS, System


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
        yield _system(system)
    for name in environments.RELEASES:
        yield _simulator(name, build=simulators)


def _program(name: str, remedy: str) -> Finding:
    path = shutil.which(name)
    return Finding(path is not None, f"{name}: {path or f'not found; install it with: {remedy}'}")


def _system(system: System) -> Finding:
    try:
        return Finding(True, f"{system.title} {system.installed()}")
    except MqperfError as error:
        return Finding(False, str(error))


def _simulator(name: str, *, build: bool) -> Finding:
    release = environments.find(name)
    text = f"simulator of oslo.messaging {release.version} for {name}"
    if not build:
        return Finding(True, f"{text}: made on first use; try it now with --simulators")
    try:
        versions = environments.self_check(name)
    except MqperfError as error:
        return Finding(False, str(error))
    return Finding(True, f"{text}: " + ", ".join(f"{k} {v}" for k, v in versions.items()))
