"""A topology with one toy, and a family of topologies with any number of toys."""

from mqperf.base.errors import PlanError
from mqperf.plan.topologies import Family, Topology

PREFIX = "toys-"


def made(name: str) -> Topology | None:
    """The topology with this number of toys; there must be at least one."""
    if not name.startswith(PREFIX):
        return None
    number = name.removeprefix(PREFIX)
    if not number.isdecimal() or int(number) == 0:
        raise PlanError(f"{name}: expected toys-NUMBER")
    return Topology(
        name, f"{number} Toys", name, f"There are {number} toys.", server=int(number) - 1
    )


ALONE = Topology("toy-alone", "A Toy", "Client -> Toy, Server -> Toy", "There is one toy.")
FAMILY = Family("toys", (ALONE,), made)
