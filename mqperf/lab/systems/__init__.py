"""Systems under test, one module each.

``in_plans`` says what is wrong with a plan, ``possible`` what of a plan can be had on some hosts.
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
"""The system of plans/quickstart.yaml; the others are needed by plans that name them."""


def lookup(name: str) -> System:
    """The system of that name.

    Raises ``PlanError`` with the package that brings it, the nearest known one, or all of them.
    """
    if name not in SYSTEMS:
        raise PlanError(unknown("system", name, [*SYSTEMS]))
    return SYSTEMS[name]


def starts(cases: Iterable[Case]) -> list[list[Case]]:
    """The cases in their order, a list for each start of a system."""
    return deployments(cases, lambda case: SYSTEMS[case.system].own_deployment(case.topology))
