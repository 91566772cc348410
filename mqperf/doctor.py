"""What is installed here, in which versions, and how to get what is missing."""

import platform
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mqperf.errors import MqperfError
from mqperf.hosts import LocalHost
from mqperf.load import environments
from mqperf.systems import SYSTEMS, System, lookup
from mqperf.version import version


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that mqperf needs: whether it is there, and a sentence about it."""

    sound: bool
    text: str


def _there(text: str) -> Finding:
    return Finding(sound=True, text=text)


def _missing(text: str) -> Finding:
    return Finding(sound=False, text=text)


def examine(names: Collection[str], *, simulators: bool) -> Iterator[Finding]:
    """Look at all that runs on these systems need, on every known one when none is named.

    With ``simulators`` their load generators are made and tried, too.
    """
    systems = [lookup(name) for name in names or SYSTEMS]
    yield _there(f"mqperf {version()}, Python {platform.python_version()}")
    facts = LocalHost().facts()
    yield _there(f"host: {facts['os']}, {facts['cores']} cores, {facts['cpu_model']}")
    for system in systems:
        yield _system(system)
    for name in dict.fromkeys(system.simulator for system in systems):
        yield _simulator(name, build=simulators)


def _system(system: System) -> Finding:
    try:
        return _there(f"{system.title} {system.installed()}")
    except MqperfError as error:
        return _missing(f"{system.title}: {error}")


def _simulator(name: str, *, build: bool) -> Finding:
    release = environments.find(name)
    text = f"simulator of oslo.messaging {release.version} for {name}"
    if not build:
        return _there(f"{text}: is made on first use; --simulators makes and tries it now")
    try:
        versions = environments.self_check(name)
    except MqperfError as error:
        return _missing(str(error))
    return _there(f"{text}: " + ", ".join(f"{k} {v}" for k, v in versions.items()))
