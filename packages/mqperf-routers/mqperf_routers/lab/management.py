"""Management queries to routers, as commands that run on a host beside them."""

from collections.abc import Mapping

from mqperf.hosts.software import ALONE, Machine, path_of, plain_variables

PROGRAM = "mqperf_routers.onhost.management"


def query(machine: Machine, address: str, kind: str) -> tuple[list[str], Mapping[str, str]]:
    """Return the command that prints all entities of a kind as JSON, and its environment."""
    return [machine.python, *ALONE, "-m", PROGRAM, address, kind], plain_variables(
        path_of(PROGRAM, machine)
    )
