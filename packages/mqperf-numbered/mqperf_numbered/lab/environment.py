"""A program whose messages are numbered, ready to run on a host."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mqperf import __version__
from mqperf.base.errors import LoadError
from mqperf.hosts.software import ALONE, Machine, packages, path_of, plain_variables
from mqperf.hosts.software import versions as versions_in

LOCK = Path(__file__).with_name("locks") / "numbered.txt"

RELEASE = "mqperf"
"""The entry of the versions that is the generator's own."""

LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Environment:
    """The host's Python, and the folders there from which the program imports."""

    python: str
    path: tuple[Path, ...]
    versions: Mapping[str, str]

    def check(self) -> None:
        """Nothing can have changed: the cache has it by its digest."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program in a room ``onhost``: its title, and the package that it is."""

    title: str
    name: str

    def ensure(self, _driver: str, machine: Machine) -> Environment:
        """The program on a host; raises ``InstallError`` or ``HostError`` when it cannot be had."""
        numpy = packages("numpy for load generators", LOCK, machine.platform)
        python = machine.platform.python
        versions = {RELEASE: __version__, "python": python, "numpy": versions_in(numpy)["numpy"]}
        path = (*path_of(self.name, machine), machine.copied(numpy))
        return Environment(machine.python, path, versions)

    def self_check(self, driver: str, machine: Machine) -> Mapping[str, str]:
        """Import it on the host, with all that it needs, and give its versions."""
        environment = self.ensure(driver, machine)
        argv = [environment.python, *ALONE, "-c", f"import {self.name}.__main__"]
        done = machine.run(argv, env=variables(environment), timeout_s=LIMIT_S)
        if done.returncode:
            raise LoadError(
                f"{machine.name}: {self.title} does not start: {done.stderr.strip()[-500:]}"
            )
        return environment.versions


def variables(environment: Environment) -> dict[str, str]:
    """All variables of a process: nothing of the caller's reaches the measured program."""
    return plain_variables(environment.path)
