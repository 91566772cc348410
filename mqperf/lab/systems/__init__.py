"""Systems under test, one module each.

``in_plans`` finds problems in a plan, ``possible`` the cases of a plan that some hosts can run.
"""

from collections.abc import Iterable

from mqperf.base.errors import PlanError
from mqperf.base.problems import unknown
from mqperf.base.registry import Registry
from mqperf.lab.systems import rabbitmq
from mqperf.lab.systems.certificates import OPENSSL
from mqperf.lab.systems.system import Deployment, Node, System
from mqperf.lab.tool import Tool
from mqperf.plan import Case, deployments

__all__ = [
    "FIRST",
    "OPENSSL",
    "SYSTEMS",
    "Deployment",
    "Node",
    "System",
    "Tool",
    "lookup",
    "starts",
]

SYSTEMS = Registry("systems", (rabbitmq.SYSTEM,))

FIRST = rabbitmq.SYSTEM.name
"""The system of plans/quickstart.yaml; others are only needed by plans that name them."""


def lookup(name: str) -> System:
    """Return the system of that name.

    Raises ``PlanError`` naming the package that has it, the nearest known system, or all systems.
    """
    if name not in SYSTEMS:
        raise PlanError(unknown("system", name, [*SYSTEMS]))
    return SYSTEMS[name]


def starts(cases: Iterable[Case]) -> list[list[Case]]:
    """Return the cases in their order, grouped in a list for each start of a system."""
    return deployments(cases, lambda case: SYSTEMS[case.system].own_deployment(case.topology))
