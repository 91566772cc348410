"""Installs and checks a load generator's program on a host."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mqperf import __version__
from mqperf.base.errors import LoadError
from mqperf.hosts.software import ALONE, Machine, packages, path_of, plain_variables
from mqperf.hosts.software import versions as versions_in

LOCK = Path(__file__).with_name("locks") / "numbered.txt"

RELEASE = "mqperf"
"""The entry of the versions with the generator's own."""

LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Environment:
    """The Python of a host, and its folders from which the program imports."""

    python: str
    path: tuple[Path, ...]
    versions: Mapping[str, str]

    def check(self) -> None:
        """Do nothing: the folders are cached by their digests, so nothing can have changed."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program in a room ``onhost``: its title, and the name of its package."""

    title: str
    name: str

    def ensure(self, _driver: str, machine: Machine) -> Environment:
        """Install the program on a host; raises ``InstallError`` or ``HostError``."""
        numpy = packages("numpy for load generators", LOCK, machine.platform)
        python = machine.platform.python
        versions = {RELEASE: __version__, "python": python, "numpy": versions_in(numpy)["numpy"]}
        path = (*path_of(self.name, machine), machine.copied(numpy))
        return Environment(machine.python, path, versions)

    def self_check(self, driver: str, machine: Machine) -> Mapping[str, str]:
        """Import the program and its dependencies on the host; return their versions."""
        environment = self.ensure(driver, machine)
        argv = [environment.python, *ALONE, "-c", f"import {self.name}.__main__"]
        result = machine.run(argv, env=variables(environment), timeout_s=LIMIT_S)
        if result.returncode:
            raise LoadError(
                f"{machine.name}: {self.title} does not start: {result.stderr.strip()[-500:]}"
            )
        return environment.versions


def variables(environment: Environment) -> dict[str, str]:
    """Return all variables of a process: the measured program inherits none of the caller's."""
    return plain_variables(environment.path)
