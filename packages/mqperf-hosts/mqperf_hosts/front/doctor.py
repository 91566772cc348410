"""What is installed here, in which versions, and how to get what is missing."""

import platform
from collections.abc import Collection, Iterator, Sequence

from mqperf.base.errors import MqperfError
from mqperf.base.version import version
from mqperf.front.findings import Finding
from mqperf.hosts import HERE, HOSTS, Host
from mqperf.lab.load import LAUNCHERS, Launcher
from mqperf.lab.systems import FIRST, SYSTEMS, System, lookup


def _present(text: str) -> Finding:
    return Finding("ok", text)


def _missing(text: str) -> Finding:
    return Finding("MISSING", text)


def examine(names: Collection[str], *, generators: bool) -> Iterator[Finding]:
    """Check all that runs on these systems need, or of all known systems when none is named.

    In the latter case only what the quickstart needs counts as missing.  With ``generators``, the
    load generators are installed and tried, too.
    """
    systems = [lookup(name) for name in names or SYSTEMS]
    yield _present(f"mqperf {version()}, Python {platform.python_version()}")
    with HOSTS[HERE].reached() as hosts:
        [host] = hosts.every
        facts = host.facts()
        yield _present(f"host: {facts['os']}, {facts['cores']} cores, {facts['cpu_model']}")
        yield from _needed(systems, names, host, generators=generators)


def _needed(
    systems: Sequence[System], names: Collection[str], host: Host, *, generators: bool
) -> Iterator[Finding]:
    """Yield a finding for each system, and for each load generator of theirs."""
    for system in systems:
        finding = _system(system, host)
        optional = not names and system is not SYSTEMS[FIRST] and not finding.sound
        if optional:
            text = f"not installed, needed for plans with {system.name}: {finding.text}"
        yield Finding("optional", text) if optional else finding
    drivers = dict.fromkeys(pair for system in systems for pair in system.every_driver.items())
    for name, driver in drivers:
        yield _generator(LAUNCHERS[name], driver, host, build=generators)


def _system(system: System, host: Host) -> Finding:
    try:
        return _present(f"{system.title} {system.installed(host)}")
    except (MqperfError, OSError) as error:
        return _missing(f"{system.title}: {error}")


def _generator(launcher: Launcher, driver: str, host: Host, *, build: bool) -> Finding:
    text = launcher.about(driver)
    if not build:
        return _present(f"{text}: installed on first use; --generators installs and tries it now")
    try:
        versions = launcher.try_out(driver, host)
    except MqperfError as error:
        return _missing(str(error))
    return _present(f"{text}: " + ", ".join(f"{k} {v}" for k, v in versions.items()))
