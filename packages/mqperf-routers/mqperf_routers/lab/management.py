"""Questions to routers about themselves, as commands that run beside them."""

from collections.abc import Mapping

from mqperf.hosts.software import ALONE, Machine, path_of, plain_variables

PROGRAM = "mqperf_routers.onhost.management"


def query(machine: Machine, address: str, kind: str) -> tuple[list[str], Mapping[str, str]]:
    """The command that prints all entities of a kind as JSON, and its variables."""
    return [machine.python, *ALONE, "-m", PROGRAM, address, kind], plain_variables(
        path_of(PROGRAM, machine)
    )
